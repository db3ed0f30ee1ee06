"""Prompts: texts under evaluation kept apart from instructions, and rubrics put into words."""
