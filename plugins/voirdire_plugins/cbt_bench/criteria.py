"""The ten categories of exercises and what their responses are compared on (Tables 12 and 13)."""

from __future__ import annotations

DIFFICULTIES = ("beginner", "intermediate", "advanced")

#: Attributes of every comparison, in order: four criteria, whose meaning is the category's.
ATTRIBUTES = ("Criteria 1", "Criteria 2", "Criteria 3", "Criteria 4", "Overall")

_AGENDA = "Momentarily step away from the CBT change agenda"

CRITERIA: dict[str, tuple[str, str, str, str]] = {
    "Explaining the Treatment Rationale for Cognitive Behavioral Therapy": (
        "Validate the client's experience",
        "Explain the logic of how CBT can be used to address concerns",
        "Instill hope for using CBT effectively",
        "Set appropriate expectations for the nature and impact of CBT",
    ),
    "Establishing Goals": (
        (
            "Suggest CBT-consistent goals and tasks that align with an individualized CBT case "
            "formulation"
        ),
        "Invite the client's input on and agreement with the goals and tasks",
        "Demonstrate flexibility",
        "Emphasize concrete, actionable, and measurable goals",
    ),
    "Negotiating a Session Agenda": (
        "Suggest a CBT-consistent agenda that aligns with the CBT case formulation",
        "Invite the client's input on and agreement with the agenda",
        "Demonstrate flexibility",
        (
            "Maintain some degree of frame or structure (i.e., the agenda can shift, but generally "
            "maintain a more or less explicit attempt to delineate expectations for session goals "
            "and tasks)"
        ),
    ),
    "Assigning and Reviewing Between-Session Activities": (
        "Provide a basic rationale for the homework assignment",
        "Tailor the homework assignment to the client's concerns and needs",
        "Ensure that there is adequate agreement on and understanding of the homework assignment",
        "Encourage and validate good-faith efforts",
    ),
    "Working With Cognitions": (
        "Encourage and facilitate client self-reflection on thoughts and beliefs",
        "Maintain an open, exploratory stance",
        (
            "Orient the client's attention to thoughts or connections between thoughts and other "
            "experiences"
        ),
        (
            "Emphasize cognitive flexibility, rather than simple thought replacement, and refrain "
            'from implying that a particular thought is "right or wrong"'
        ),
    ),
    "Working With Behaviors": (
        "Maintain a collaborative and curious stance",
        "Be clear when suggesting a plan of action and expectations",
        "Be positive and supportive of both big and small positive changes",
        (
            "Appeal to relevant core learning concepts, including conditioning, reinforcement, the "
            "importance of environment, antecedents, and consequences"
        ),
    ),
    "Working With Emotions": (
        "Empathically inquire about clients' emotional experience",
        "Actively listen and maintain a supportive tone to clients' emotional disclosures",
        (
            "Model tolerance of affect and an approach orientation to clients' strong emotional "
            "experience"
        ),
        (
            "Use psychoeducation to support the importance of clients experiencing versus avoiding "
            "their emotion and the maladaptive consequences of negative reinforcement"
        ),
    ),
    "Adherence Flexibility": (
        "Maintain a collaborative and transparent stance",
        "Demonstrate empathy",
        "Demonstrate openness to explore before determining if a modification is indeed warranted",
        "Maintain consistency with a broad CBT orientation",
    ),
    "Responding to Therapeutic Alliance Ruptures": (
        _AGENDA,
        "Warmly invite the client to discuss their subjective experience",
        (
            "Empathize with the client's thoughts and feelings and invite further disclosure of "
            "unhelpful or invalidating occurrences"
        ),
        (
            '"Disarm" the client\'s negative affect toward you or CBT by finding some truth in '
            "their disclosures"
        ),
    ),
    "Responding to Client Resistance": (
        _AGENDA,
        "Empathically explore the client's experience of treatment and you",
        'Validate clients\' experience and "roll with" versus challenging their resistance',
        "Support clients' autonomy and elicit their motivation for pursuing valued directions",
    ),
}
