voirdire examine scores.csv --reference ann,ben,cat --judge careful,lenient,blind
