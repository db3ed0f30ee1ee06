voirdire correct labels.csv --reference human --compare b,a
