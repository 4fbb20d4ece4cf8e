import FoundationEssentials
import LinnetSerialization
import Testing

/// An encoded value, and the rule that it demonstrates.
struct QueryCase: Sendable, CustomTestStringConvertible {
    let rule: String
    let encoder: QueryEncoder
    let parameters: RequestParameters
    let expected: String

    var testDescription: String { "\(rule): \(expected)" }

    static func cases(
        _ rule: String,
        _ pairs: [(ParameterValue, String)],
        _ configure: (inout QueryEncoder) -> Void = { _ in }
    ) -> [QueryCase] {
        var encoder = QueryEncoder()
        configure(&encoder)
        return pairs.map {
            QueryCase(rule: rule, encoder: encoder, parameters: RequestParameters($0.0), expected: $0.1)
        }
    }

    static func texts(
        _ rule: String,
        _ pairs: [(String, String)],
        _ configure: (inout QueryEncoder) -> Void = { _ in }
    ) -> [QueryCase] {
        cases(rule, pairs.map { (["k": .string($0.0)], "k=" + $0.1) }, configure)
            + cases(
                rule, pairs.filter { !$0.0.isEmpty }.map { (.dictionary([.init($0.0, 1)]), $0.1 + "=1") }, configure)
    }

    static let all = afNetworking + characters + styles
}

extension QueryCase {
    /// AFNetworking's rules, which are the default.
    static let afNetworking: [QueryCase] = [
        cases(
            "Pairs are joined by &, in the order of their names' bytes",
            [
                (["a": 1], "a=1"), (["b": 1, "a": 2], "a=2&b=1"),
                (["b": 1, "B": 2, "a": 3, "A": 4], "A=4&B=2&a=3&b=1"), (["a10": 1, "a9": 2], "a10=1&a9=2"),
                (["a": 1, "aa": 2, "A": 3, "_": 4], "A=3&_=4&a=1&aa=2"), (["é": 1, "z": 2], "z=2&%C3%A9=1"),
                (["abcdefgh2": 1, "abcdefgh1": 2, "abcdefgh": 3], "abcdefgh=3&abcdefgh1=2&abcdefgh2=1"),
            ]),
        cases(
            "A repeated name keeps its values, in their order",
            [
                (["b": 2, "a": 3, "b": 1], "a=3&b=2&b=1"),
                (["abcdefghi": 2, "abcdefghi": 1], "abcdefghi=2&abcdefghi=1"),
            ]),
        cases(
            "A text is written as it is; an empty one after a =",
            [
                (["a": "x"], "a=x"), (["a": ""], "a="), (["": "x"], "=x"), (["": ""], "="),
            ]),
        cases(
            "Null is a bare name",
            [
                (["a": ParameterValue.null], "a"), (["a": ParameterValue.null, "b": ParameterValue.null], "a&b"),
                (["a": ["b": ["c": ParameterValue.null]]], "a%5Bb%5D%5Bc%5D"),
            ]),
        cases("Truth values are 1 and 0", [(["a": true], "a=1"), (["a": false], "a=0")]),
        cases(
            "Integers are decimal",
            [
                (["a": -7], "a=-7"), (["a": 0], "a=0"), (["a": .integer(.min)], "a=-9223372036854775808"),
                (["a": .integer(.max)], "a=9223372036854775807"), (["a": .unsigned(.max)], "a=18446744073709551615"),
            ]),
        cases(
            "Numbers have the shortest digits, and no fraction of zero",
            [
                (["a": 1.5], "a=1.5"), (["a": 2.0], "a=2"), (["a": -0.25], "a=-0.25"), (["a": 0.1], "a=0.1"),
                (["a": .double(1e21)], "a=1e%2B21"), (["a": .double(.leastNonzeroMagnitude)], "a=5e-324"),
                (["a": -0.0], "a=-0"),
                (["a": .double(.nan)], "a=nan"), (["a": .double(-.infinity)], "a=-inf"),
            ]),
        cases(
            "Data is Base64, percent-encoded",
            [
                (["a": .data(Data([255, 254]))], "a=//4%3D"), (["a": .data(Data([0xFB]))], "a=%2Bw%3D%3D"),
                (["a": .data(Data())], "a="),
            ]),
        cases(
            "Dates are ISO 8601 in UTC, with milliseconds if there are any",
            [
                (["a": .date(Date(timeIntervalSince1970: 0))], "a=1970-01-01T00%3A00%3A00Z"),
                (["a": .date(Date(timeIntervalSince1970: 0.25))], "a=1970-01-01T00%3A00%3A00.250Z"),
                (["a": .date(Date(timeIntervalSince1970: -1))], "a=1969-12-31T23%3A59%3A59Z"),
                (["a": .date(Date(timeIntervalSince1970: 951_782_400))], "a=2000-02-29T00%3A00%3A00Z"),
            ]),
        cases(
            "A name in a dictionary stands in brackets, sorted at each level",
            [
                (["a": ["b": 1]], "a%5Bb%5D=1"), (["a": ["c": 1, "b": 2]], "a%5Bb%5D=2&a%5Bc%5D=1"),
                (["a": ["b c": 1]], "a%5Bb%20c%5D=1"), (["a": ["b": ["c": ["d": 1]]]], "a%5Bb%5D%5Bc%5D%5Bd%5D=1"),
                (["a": ["": 1]], "a%5B%5D=1"), (["a": ["b]": 1]], "a%5Bb%5D%5D=1"), (["a[b]": 1], "a%5Bb%5D=1"),
            ]),
        cases(
            "An element of an array has empty brackets, in the array's order",
            [
                (["a": [1, 2]], "a%5B%5D=1&a%5B%5D=2"), (["a": ["z", "b"]], "a%5B%5D=z&a%5B%5D=b"),
                (["a": [nil]], "a%5B%5D"), (["a": [true, "", 1.5]], "a%5B%5D=1&a%5B%5D=&a%5B%5D=1.5"),
                (["a": [[1, 2], [3]]], "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3"),
                (["a": [["k": 1], ["k": 2]]], "a%5B%5D%5Bk%5D=1&a%5B%5D%5Bk%5D=2"),
                (["a": ["b": [1]]], "a%5Bb%5D%5B%5D=1"),
            ]),
        cases(
            "A member of a set has the plain name, sorted by its text",
            [
                (["a": .set(["z", "b"])], "a=b&a=z"), (["a": .set([10, 9])], "a=10&a=9"),
                (["a": ["b": .set([2, 1])]], "a%5Bb%5D=1&a%5Bb%5D=2"), (["a": .set([nil, "x"])], "a&a=x"),
                (["a": .set([["k": 1]])], "a%5Bk%5D=1"), (["a": [.set([2, 1])]], "a%5B%5D=1&a%5B%5D=2"),
            ]),
        cases(
            "What has nothing in it is not there",
            [
                ([:], ""), ([], ""), (["a": [:]], ""), (["a": []], ""), (["a": .set([])], ""),
                (["a": [:], "b": 1], "b=1"),
                (["a": [[], [:]], "b": 1], "b=1"), (["a": ["b": [:]]], ""),
            ]),
    ].flatMap { $0 }

    /// RFC 3986, sections 2.1 and 3.4, in names and in values.
    static let characters: [QueryCase] = [
        texts("Letters, digits, -._~ and /? stay", [("azAZ09", "azAZ09"), ("-._~", "-._~"), ("/?", "/?")]),
        texts("Delimiters are encoded", [(":#[]@!$&'()*+,;=", "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D")]),
        texts(
            "Other ASCII is encoded, a space as %20",
            [
                (" ", "%20"), ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"), ("\u{0}\n\r\t\u{7F}", "%00%0A%0D%09%7F"),
            ]),
        texts(
            "A percent sign is encoded, so that nothing is encoded by halves",
            [
                ("%", "%25"), ("%20", "%2520"), ("100%", "100%25"),
            ]),
        texts(
            "Beyond ASCII, UTF-8 is encoded, and nothing normalized",
            [
                ("ü", "%C3%BC"), ("€", "%E2%82%AC"), ("漢字", "%E6%BC%A2%E5%AD%97"), ("😀", "%F0%9F%98%80"),
                ("e\u{301}", "e%CC%81"), ("\u{FFFD}", "%EF%BF%BD"), ("\u{10FFFF}", "%F4%8F%BF%BF"),
                ("\u{202E}אב", "%E2%80%AE%D7%90%D7%91"), ("🇩🇪", "%F0%9F%87%A9%F0%9F%87%AA"),
                ("👨‍👩‍👧", "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
            ]),
    ].flatMap { $0 }
}
