"""The two prompts of appendix D of Sharma et al., word for word."""

from __future__ import annotations

_ROLE = (
    "As a specialized annotator in psychology with expertise in cognitive distortions, analyze the "
    "`user input` to identify any underlying cognitive distortion(s) from the specified list "
    "called `COGNITIVE DISTORTIONS LIST`"
)
_LIST = (
    "`COGNITIVE DISTORTIONS LIST:` [Emotional Reasoning, Overgeneralization, Mental Filter, "
    "Should Statements, All or Nothing Thinking, Mind Reading, Fortune Telling, "
    "Magnification (Catastrophizing), Personalization, Labeling]"
)

RANKED = f"""\
{_ROLE}. Your task is to determine the most dominant cognitive distortion present. If there is a \
secondary distortion, note it as well. In cases where multiple distortions are present, select the \
most dominant one as the primary label, and if necessary, include one secondary label. The \
response must include at most two labels. If no distortions are found, label the `user input` as \
**No Distortion**.

{_LIST}

Output Format: If cognitive distortions are identified, provide them as a comma-separated list, \
with the most dominant distortion listed first, followed by a secondary distortion if applicable. \
At most two distortions should be listed. If no distortions are found, return **No Distortion**."""

MULTI = f"""\
{_ROLE} and provide results as per the **Output Format** only.

{_LIST}

Output Format: If any cognitive distortion(s) are identified, list them as a comma-separated list. \
If no distortion(s) are found, return **No Distortion**."""

#: Prompt by name, as the paper abbreviates them: RLP and MLP.
PROMPTS = {"ranked": RANKED, "multi": MULTI}
AT_MOST = {"ranked": 2, "multi": None}
SHORT = {"ranked": "RLP", "multi": "MLP"}
