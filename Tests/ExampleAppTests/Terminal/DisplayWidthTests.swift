import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct DisplayWidthTests {
    @Test(arguments: [
        ("a", 1), ("é", 1), ("e\u{301}", 1), ("\u{301}", 0), ("\u{200B}", 0), ("\n", 0), ("\u{1B}", 0), ("ß", 1),
        ("日", 2), ("한", 2), ("が", 2), ("か\u{3099}", 2), ("ｱ", 1), ("Ａ", 2), ("、", 2), ("𠀋", 2),
        ("🐦", 2), ("👩‍🚀", 2), ("👨‍👩‍👧‍👦", 2), ("👍🏽", 2), ("🇯🇵", 2), ("❤", 1), ("❤️", 2), ("⌚", 2), ("⌚\u{FE0E}", 1),
        ("1️⃣", 2), ("─", 1), ("█", 1), ("▀", 1), ("⠋", 1), ("·", 1), ("…", 1),
    ])
    func aCharacterTakesItsColumns(text: String, columns: Int) {
        #expect(text.count == 1)
        #expect(text.columns == columns)
    }

    @Test func theColumnsOfATextAreTheSumOfItsCharacters() {
        #expect("ab 日本 👩‍🚀".columns == 10)
        #expect("".columns == 0)
    }
}
