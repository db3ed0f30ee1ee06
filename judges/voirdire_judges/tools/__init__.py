"""The tools built in that an agent judge may call; what a tool is stands in `voirdire.tools`."""
