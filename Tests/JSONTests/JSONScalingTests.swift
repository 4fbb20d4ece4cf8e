import CommandSupport
import FoundationEssentials
import LinnetJSON
import Testing

/// Twice the input takes at most two and a half times as long.
@Suite(.timeLimit(.minutes(5))) struct JSONScalingTests {
    typealias Case = ScalingCase

    @Test(
        arguments: [
            Case("numbers", 10_000, repeated("1.5,")) { _ = try JSONValue(parsing: Data("[\($0)1]".utf8)) },
            Case("names", 3000, numbered("\"n", "\":1,")) { _ = try JSONValue(parsing: Data("{\($0)\"\":1}".utf8)) },
            Case("one name", 5000, repeated("\"n\":1,")) { _ = try? JSONValue(parsing: Data("{\($0)\"\":1}".utf8)) },
            Case("escapes", 10_000, repeated("\\u00e9\\n")) { _ = try JSONValue(parsing: Data("\"\($0)\"".utf8)) },
            Case("space", 50_000, repeated(" ")) { _ = try JSONValue(parsing: Data("[\($0)]".utf8)) },
            Case("digits", 5000, repeated("9")) { _ = try? JSONValue(parsing: Data($0.utf8)) },
        ])
    func jsonIsReadInLinearTime(_ it: Case) throws {
        #expect(try growth(from: it.count, it.make, it.work) <= 2.5)
    }

    private struct Few: Decodable { var first, last: Int? }

    private static func decode<T: Decodable>(_ type: T.Type, _ text: String) throws {
        _ = try JSONBodyDecoder().decode(type, from: Data(text.utf8))
    }

    @Test(
        arguments: [
            Case("numbers", 10_000, repeated("1.5,")) { try decode([Double].self, "[\($0)1]") },
            Case("digits", 5000, repeated("9")) { try decode([Double].self, "[0.\($0)]") },
            Case("digits of an integer", 20_000, repeated("0")) { try? decode([Int].self, "[1\($0)]") },
            Case("strings", 10_000, repeated("\"\\u00e9\\nx\",")) { try decode([String].self, "[\($0)\"\"]") },
            Case("one string", 20_000, repeated("é\\n")) { try decode([String].self, "[\"\($0)\"]") },
            Case("rows", 2000, repeated("{\"x\":0,\"last\":1},")) { try decode([Few].self, "[\($0){}]") },
            Case("members", 3000, numbered("\"n", "\":1,")) { try decode([String: Int].self, "{\($0)\"\":1}") },
            Case("numbered members", 3000, numbered("\"", "\":1,")) { try decode([Int: Int].self, "{\($0)\"-1\":1}") },
            Case("other members", 5000, numbered("\"n", "\":1,")) { try decode(Few.self, "{\($0)\"last\":1}") },
            Case("one name", 5000, repeated("\"n\":1,")) { try decode([String: Int].self, "{\($0)\"\":1}") },
            Case("trees", 1000, repeated("[{}],")) { try decode(JSONValue.self, "[\($0)1]") },
            Case("names of a tree", 1000, numbered("\"n", "\":1,")) { try decode(JSONValue.self, "{\($0)\"\":1}") },
            Case("space", 50_000, repeated(" ")) { try decode([Int].self, "[\($0)]") },
            Case("open arrays", 20_000, repeated("[")) { try? decode([Int].self, $0) },
        ])
    func typesAreDecodedInLinearTime(_ it: Case) throws {
        #expect(try growth(from: it.count, it.make, it.work) <= 2.5)
    }
}
