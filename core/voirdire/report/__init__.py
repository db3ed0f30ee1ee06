"""An Examination as terminal tables, Markdown, LaTeX, HTML and figures."""
