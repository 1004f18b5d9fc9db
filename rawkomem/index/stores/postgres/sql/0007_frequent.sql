-- Statistics tell which words are frequent: a question in a large index leaves those out without counting them.
ALTER TABLE words ALTER tokens SET STATISTICS 100;
ALTER TABLE arounds ALTER tokens SET STATISTICS 100;
ANALYZE words, arounds;
