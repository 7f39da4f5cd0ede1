# __shared__ variables become references into the executor's shared memory: sed -zE -f this file.
# Anything written in another way keeps its __shared__ and does not compile. Every variable is
# aligned enough, so that alignments are dropped.
s/((^|\n)[ \t]*(extern[ \t]+)?)(__align__|alignas)\([^()]*\)[ \t]+(__shared__)/\1\5/g
s/((^|\n)[ \t]*(extern[ \t]+)?__shared__[ \t\n]+)(__align__|alignas)\([^()]*\)[ \t\n]+/\1/g
s/((^|\n)[ \t]*)extern[ \t]+__shared__[ \t\n]+([^;]*[^A-Za-z0-9_;])([A-Za-z_][A-Za-z0-9_]*)\[\];/\1EXECUTOR_DYNAMIC_SHARED(\4, \3);/g
s/((^|\n)[ \t]*)__shared__[ \t\n]+([^;]*[^A-Za-z0-9_;])([A-Za-z_][A-Za-z0-9_]*)((\[[^];]*\])*);/\1EXECUTOR_SHARED(\4, \5, \3);/g
