#!/usr/bin/env python3
"""Reference values for the tests of seekwell-stats, computed with SciPy.

    python3 -m venv v && v/bin/pip install scipy==1.17.1 && v/bin/python make.py > golden.json

Each table names the call that made it. What SciPy has no function for (Hodges-Lehmann, intervals by
inversion) is made here in the plainest way: intervals by trying every candidate centre against
SciPy's own p value, so that nothing of the crate's formula is repeated.
"""
import itertools
import json
import sys

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20260901)


def rounded(values, digits=4):
    return [float(round(v, digits)) for v in values]


def samples():
    """Untied samples of every size that matters, some centred off zero."""
    for n in (1, 2, 3, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 60):
        yield rounded(rng.normal(0.004, 0.02, n), 6)
        yield rounded(rng.standard_t(3, n) * 0.02 - 0.01, 6)


def p_signed(d, centre=0.0):
    shifted = np.asarray(d) - centre
    return float(stats.wilcoxon(shifted, method="exact").pvalue)


def inverted(d, confidence):
    """Ends of the set of centres that the test does not reject: stepping over Walsh averages."""
    walsh = sorted((x + y) / 2 for x, y in itertools.combinations_with_replacement(d, 2))
    edges = [walsh[0] - 1.0] + walsh + [walsh[-1] + 1.0]
    kept = []
    for low, high in zip(edges, edges[1:]):
        if p_signed(d, (low + high) / 2) > 1 - confidence:
            kept.append((low, high))
    low, high = kept[0][0], kept[-1][1]
    return None if low == edges[0] else [low, high]


def wilcoxon():
    rows = []
    for d in samples():
        r = stats.wilcoxon(d, method="exact", alternative="two-sided")
        plus = float(stats.wilcoxon(d, method="exact", alternative="greater").statistic)
        rows.append({"d": d, "statistic": plus, "p": float(r.pvalue)})
    return rows


def wilcoxon_tied():
    rows = []
    for n in (4, 6, 8, 10, 12, 14):
        for scale in (2, 5):
            d = [float(v) for v in rng.integers(-scale, scale + 2, n)]
            used = [v for v in d if v != 0]
            if len(used) < 2:
                continue
            method = stats.PermutationMethod(n_resamples=np.inf)
            r = stats.wilcoxon(used, method=method)
            plus = stats.wilcoxon(used, method=method, alternative="greater").statistic
            rows.append({"d": d, "statistic": float(plus), "p": float(r.pvalue)})
    return rows


def hodges_lehmann():
    rows = []
    for d in samples():
        pairs = itertools.combinations_with_replacement(d, 2)
        row = {"d": d, "centre": float(np.median([(x + y) / 2 for x, y in pairs]))}
        if len(d) <= 15:
            for confidence in (0.80, 0.90, 0.95, 0.99):
                row[f"ci{round(confidence * 100)}"] = inverted(d, confidence)
        rows.append(row)
    return rows


def student():
    rows = []
    for d in samples():
        if len(d) < 2:
            continue
        for confidence in (0.90, 0.95, 0.99):
            mean, se = np.mean(d), stats.sem(d)
            low, high = stats.t.interval(confidence, len(d) - 1, loc=mean, scale=se)
            rows.append({"d": d, "confidence": confidence, "low": float(low), "high": float(high)})
    return rows


def welch():
    rows = []
    for m, n in ((2, 2), (3, 3), (3, 10), (8, 12), (25, 25)):
        for shift in (0.0, 1.0, 5.0):
            x, y = rounded(rng.normal(10, 1, m)), rounded(rng.normal(10 + shift, 2, n))
            r = stats.ttest_ind(y, x, equal_var=False)
            rows.append({"x": x, "y": y, "t": float(r.statistic), "df": float(r.df),
                         "p": float(r.pvalue)})
    return rows


def p_shift(x, y, shift):
    r = stats.mannwhitneyu(np.asarray(y) - shift, x, method="exact")
    return float(r.pvalue)


def mann_whitney():
    rows = []
    for m, n in ((1, 1), (1, 4), (3, 3), (4, 4), (3, 5), (5, 5), (6, 9), (10, 10), (12, 20)):
        for shift in (0.0, 1.5):
            x, y = rounded(rng.normal(10, 1, m)), rounded(rng.normal(10 + shift, 1, n))
            r = stats.mannwhitneyu(y, x, method="exact")
            d = sorted(b - a for a in x for b in y)
            row = {"x": x, "y": y, "u": float(r.statistic), "p": float(r.pvalue),
                   "shift": float(np.median(d))}
            if m * n <= 100:
                edges = [d[0] - 1.0] + d + [d[-1] + 1.0]
                kept = [(a, b) for a, b in zip(edges, edges[1:])
                        if p_shift(x, y, (a + b) / 2) > 0.05]
                low, high = kept[0][0], kept[-1][1]
                row["ci95"] = None if low == edges[0] else [low, high]
            rows.append(row)
    return rows


def mann_whitney_tied():
    rows = []
    for m, n in ((3, 3), (4, 5), (6, 6), (7, 9)):
        x = [float(v) for v in rng.integers(0, 5, m)]
        y = [float(v) for v in rng.integers(1, 6, n)]
        # Twice the smaller tail over every way to choose, the definition itself.
        ranks = stats.rankdata(x + y)
        sums = [sum(c) for c in itertools.combinations(ranks, n)]
        seen = sum(ranks[m:])
        low = np.mean([s <= seen + 1e-9 for s in sums])
        high = np.mean([s >= seen - 1e-9 for s in sums])
        u = float(stats.mannwhitneyu(y, x).statistic)
        rows.append({"x": x, "y": y, "u": u, "p": float(min(1.0, 2 * min(low, high)))})
    for m, n in ((40, 40), (50, 30)):
        x = [float(v) for v in rng.integers(0, 9, m)]
        y = [float(v) for v in rng.integers(1, 10, n)]
        r = stats.mannwhitneyu(y, x, method="asymptotic", use_continuity=True)
        rows.append({"x": x, "y": y, "u": float(r.statistic), "p": float(r.pvalue)})
    return rows


def kendall():
    rows = []
    for n in (3, 5, 6, 8, 10, 12, 20, 40):
        for slope in (0.0, 0.01):
            d = rounded(rng.normal(0, 0.02, n) + slope * np.arange(n), 6)
            r = stats.kendalltau(np.arange(n), d, method="exact")
            s = float(stats.theilslopes(d, np.arange(n)).slope)
            rows.append({"d": d, "tau": float(r.statistic), "p": float(r.pvalue), "slope": s})
    for n in (8, 12, 30):
        d = [float(v) for v in rng.integers(0, 6, n)]
        r = stats.kendalltau(np.arange(n), d, method="asymptotic")
        s = float(stats.theilslopes(d, np.arange(n)).slope)
        rows.append({"d": d, "tau": float(r.statistic), "p": float(r.pvalue), "slope": s})
    return rows


def holm():
    """By its definition: the closed test of all subsets, each by Bonferroni."""
    rows = []
    for m in (1, 2, 3, 5):
        p = rounded(rng.uniform(0, 0.2, m) ** 1.5)
        adjusted = []
        for i in range(m):
            sets = [s for k in range(1, m + 1) for s in itertools.combinations(range(m), k)
                    if i in s]
            adjusted.append(min(1.0, max(len(s) * min(p[j] for j in s) for s in sets)))
        rows.append({"p": p, "adjusted": adjusted})
    return rows


TABLES = [
    (wilcoxon, "stats.wilcoxon(d, method='exact')"),
    (wilcoxon_tied, "stats.wilcoxon(nonzero d, method=PermutationMethod(n_resamples=inf))"),
    (hodges_lehmann, "np.median of pair means; ci: inversion of stats.wilcoxon(method='exact')"),
    (student, "stats.t.interval(confidence, n - 1, mean, stats.sem(d))"),
    (welch, "stats.ttest_ind(y, x, equal_var=False)"),
    (mann_whitney, "stats.mannwhitneyu(y, x, method='exact'); ci95: its inversion"),
    (mann_whitney_tied, "enumeration; beyond 60 values mannwhitneyu(method='asymptotic')"),
    (kendall, "stats.kendalltau(i, d, method='exact', or 'asymptotic' with ties), theilslopes"),
    (holm, "closed testing by Bonferroni over all subsets"),
]
out = {"made_with": f"scipy {scipy.__version__}, numpy {np.__version__}"}
for table, call in TABLES:
    out[table.__name__] = {"call": call, "rows": table()}
sys.stdout.write("{\n")
for number, (name, value) in enumerate(out.items()):
    sys.stdout.write(",\n" if number else "")
    if isinstance(value, str):
        sys.stdout.write(f"{json.dumps(name)}: {json.dumps(value)}")
        continue
    rows = ",\n".join(json.dumps(row) for row in value["rows"])
    sys.stdout.write(f"{json.dumps(name)}: {{\"call\": {json.dumps(value['call'])}, \"rows\": [\n")
    sys.stdout.write(rows + "\n]}")
sys.stdout.write("\n}\n")
