import csv
from pathlib import Path
from statistics import mean

from deepeval import evaluate
from deepeval.evaluate import DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Judge(BaseMetric):
    threshold = 0.6

    def measure(self, case):
        self.score = (1 + len(case.actual_output) % 5) / 5
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return self.success


with Path("answers.csv").open(newline="") as file:
    cases = [
        LLMTestCase(input=row["item"], actual_output=row["text"]) for row in csv.DictReader(file)
    ]
shown = DisplayConfig(print_results=False, show_indicator=False)
found = evaluate(cases, [Judge()], display_config=shown)
scores = [one.metrics_data[0].score for one in found.test_results]
print(
    {"mean": round(5 * mean(scores), 3), "passed": sum(one.success for one in found.test_results)}
)
