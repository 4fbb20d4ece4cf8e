import LinnetMessages
import Testing

@Suite struct PercentCodingTests {
    @Test(arguments: [
        ("", ""), ("a%20b", "a b"), ("%41%4a%4A", "AJJ"), ("%", "%"), ("%4", "%4"), ("%4g", "%4g"), ("%%41", "%A"),
        ("100%25", "100%"), ("%2541", "%41"), ("a+b", "a+b"),
    ])
    func escapesAreDecodedOnce(text: String, decoded: String) {
        #expect(PercentCoding.decoded(text.utf8) == Array(decoded.utf8))
    }

    @Test func aPlusCanBeASpace() {
        #expect(PercentCoding.decoded("a+b%2B".utf8, plusIsSpace: true) == Array("a b+".utf8))
    }

    @Test func eachByteThatIsNotKeptIsEncoded() {
        #expect(PercentCoding.encoded("a/ü %".utf8) { $0 == UInt8(ascii: "a") } == "a%2F%C3%BC%20%25")
        let all = Array(UInt8.min...UInt8.max)
        let text = PercentCoding.encoded(all) { _ in false }
        #expect(text.utf8.count == 768)
        #expect(PercentCoding.decoded(text.utf8) == all)
    }
}
