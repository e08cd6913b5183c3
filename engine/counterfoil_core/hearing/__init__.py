"""The hearing: a run or a capsule is opened, checked, replayed, judged and concluded."""
