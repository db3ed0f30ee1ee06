"""Frames and a Study to a frozen Examination."""
