awk -F, 'NR==1{print "id,judge,human"} NR>1 && $4!=""{print $1 "-" $2 "," $3 "," $4}' labels.csv > judgekeeper.csv
judgekeeper check judgekeeper.csv --judge judge --human human --out judgekeeper
