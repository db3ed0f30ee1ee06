"""A verdict for each use of a judge: components from sums by cluster, uses, next steps."""
