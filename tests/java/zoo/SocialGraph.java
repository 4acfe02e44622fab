package zoo.socialgraph;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import zoo.Series;

/** Members know each other, all ways, and one of them is known to the program: who leaves is still known to others. */
public final class SocialGraph {
    static final Member founder = new Member("founder");

    static final class Member {
        final String name;
        final List<Member> knows = new ArrayList<>();

        Member(String name) {
            this.name = name;
        }

        void meet(Member other) {
            knows.add(other);
            other.knows.add(this);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(5);
        int members = 1;
        for (int round = 0; round < 4; round++) {
            List<Member> now = new ArrayList<>(List.of(founder));
            for (int i = 0; i < 800; i++) {
                Member member = new Member("member " + members++);
                member.meet(now.get(random.nextInt(now.size())));
                member.meet(now.get(random.nextInt(now.size())));
                now.add(member);
            }
            now = null;
            Series.dump(members);
        }
    }
}
