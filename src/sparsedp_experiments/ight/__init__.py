"""Wang and Gu (2019), Differentially Private Iterative Gradient Hard Thresholding."""
