import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Indexes documents in memory, then searches them: the same documents and the same queries in each round. */
public final class LuceneRounds implements Rounds.Work {
    @Override
    public void round() throws Exception {
        Random random = new Random(4711);
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new StandardAnalyzer()))) {
                for (int i = 0; i < 6000; i++) {
                    StringBuilder text = new StringBuilder();
                    for (int w = 0; w < 80; w++) {
                        text.append(word(random)).append(' ');
                    }
                    Document document = new Document();
                    document.add(new StoredField("number", i));
                    document.add(new TextField("text", text.toString(), Field.Store.YES));
                    writer.addDocument(document);
                }
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                for (int i = 0; i < 4000; i++) {
                    BooleanQuery.Builder query = new BooleanQuery.Builder();
                    for (int w = 0; w < 3; w++) {
                        query.add(new TermQuery(new Term("text", word(random))), BooleanClause.Occur.SHOULD);
                    }
                    for (ScoreDoc found : searcher.search(query.build(), 10).scoreDocs) {
                        Rounds.sink = searcher.doc(found.doc).get("text");
                    }
                }
            }
        }
    }

    /** Some words are much more frequent than others. */
    private static String word(Random random) {
        double r = random.nextDouble();
        return "word" + (int) (r * r * r * 5000);
    }
}
