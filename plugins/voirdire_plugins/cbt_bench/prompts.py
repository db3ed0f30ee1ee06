"""The prompts of Zhang et al. (2025), Tables 18-22, as they are printed."""

from __future__ import annotations

_LETTERS = (
    "Answer:\nPlease only output the letters corresponding to the choices. Multiple choices should "
    "be separated by a comma."
)
_PATIENT = "Situation: {situation}\nThoughts: {text}\n"

#: Table 18, for questions with one right choice.
QA = (
    "You are taking a CBT exam and doing multiple-choice questions. Each question has only one "
    "right choice.\n{text}\n{choices}\nAnswer:\nPlease only output the letter corresponding to the "
    "choice."
)
#: The same for "select all that apply", which the paper's questions hold and its Table 18 does not.
QA_SEVERAL = (
    "You are taking a CBT exam and doing multiple-choice questions. This question may have more "
    f"than one right choice.\n{{text}}\n{{choices}}\n{_LETTERS}"
)
#: Table 19.
CD = (
    "You are a CBT therapist and now need to determine the cognitive distortions of a patient from "
    "his current situation and thoughts. Each patient may have up to 3 distortions.\n"
    f"{_PATIENT}Question: what distortions this patient has?\nChoices:\n{{choices}}\n{_LETTERS}"
)
#: Table 20.
PC = (
    "You are a CBT therapist and now need to determine the major core beliefs of a patient from "
    "his current situation and thoughts. Each patient may have multiple core beliefs.\n"
    f"{_PATIENT}Question: what core beliefs this patient has?\n{{choices}}\n{_LETTERS}"
)
#: Table 21.
FC = (
    "You are a CBT therapist and now need to determine the fine-grained beliefs of a patient from "
    "his current situation and thoughts. Each patient may have up to 9 fine-grained beliefs. Now "
    f"answer the following question:\n{_PATIENT}"
    f"Question: what fine-grained beliefs this patient has?\nChoices:\n{{choices}}\n{_LETTERS}"
)
#: Table 22.
DP = (
    "Now, you are a professional therapist using cognitive-behavioral therapy (CBT) in a session "
    'with a client. Answer the given client statement in around "{words}" words. At the beginning '
    "of the client statement, we have the client's emotion in brackets, representing the client's "
    "emotional status when speaking the statement. You do not need to include emotions in brackets "
    "in your response."
)
