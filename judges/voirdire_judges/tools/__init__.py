"""Tools that an agent judge may call: what one is, how it is called, and those built in."""

from voirdire_judges.tools.calculate import calculated
from voirdire_judges.tools.tool import AgentTool, make_tools, run_call

__all__ = ["AgentTool", "calculated", "make_tools", "run_call"]
