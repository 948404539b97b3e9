"""Dense regressions from noisy sufficient statistics.

AdaSSP (Wang 2018) and BoostedAdaSSP (Tang et al. 2024), with their proof in ada_ssp.md.
"""
