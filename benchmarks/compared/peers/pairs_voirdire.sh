voirdire examine pairs.csv --reference people --cluster voter_id --first a
