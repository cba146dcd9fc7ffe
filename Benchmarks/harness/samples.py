"""Distributions of whole nanoseconds: exact counts, nearest-rank percentiles, nothing removed."""
import array
import math
import statistics
from collections import Counter

PERCENTILES = (50.0, 99.0, 99.9)


class Distribution:
    def __init__(self, counts=None):
        self.counts = Counter(counts or {})

    @staticmethod
    def from_file(path):
        values = array.array("q")
        with open(path, "rb") as file:
            values.frombytes(file.read())
        return Distribution(values)

    def __add__(self, other):
        both = Counter(self.counts)
        both.update(other.counts)
        return Distribution(both)

    def every_release(self, period):
        """With the releases that were given up: a sample later than a period stands for those which came due meanwhile, too, each
        a period less late. Without them an outage would be one late sample among many."""
        every = Counter(self.counts)
        for value, count in self.counts.items():
            for late in range(value - period, 0, -period):
                every[late] += count
        return Distribution(every)

    @property
    def count(self):
        return sum(self.counts.values())

    @property
    def maximum(self):
        return max(self.counts)

    def percentile(self, percent):
        """The smallest value that at least `percent` of all values do not exceed."""
        rank = max(1, math.ceil(self.count * percent / 100))
        seen = 0
        for value in sorted(self.counts):
            seen += self.counts[value]
            if seen >= rank:
                return value
        raise ValueError("no samples")

    def summary(self):
        """For the raw JSON: percentiles in ns, and the counts by whole microsecond."""
        by_microsecond = Counter()
        for value, count in self.counts.items():
            by_microsecond[value // 1000] += count
        return {
            "count": self.count,
            **{f"p{percent:g}_ns": self.percentile(percent) for percent in PERCENTILES},
            "max_ns": self.maximum,
            "counts_by_us": {str(key): by_microsecond[key] for key in sorted(by_microsecond)},
        }


def pooled(distributions):
    total = Distribution()
    for distribution in distributions:
        total = total + distribution
    return total


def median_ratio(ours, theirs):
    """The median over the rounds of ours ÷ theirs in the same round."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True) if other > 0)
