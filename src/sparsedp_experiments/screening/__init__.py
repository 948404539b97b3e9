"""Khanna et al., The Challenge of Differentially Private Screening Rules."""
