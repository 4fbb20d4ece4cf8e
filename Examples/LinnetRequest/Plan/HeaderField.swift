import ExampleSupport
import Linnet

/// Header fields on the command line.
enum HeaderField {
    /// Parses `Name: value`.
    static func parse(_ text: String) throws -> HTTPField {
        guard let colon = text.firstIndex(of: ":"), let name = HTTPField.Name(String(text[..<colon])),
            case let value = trimmed(text[text.index(after: colon)...]), HTTPField.isValidValue(value)
        else {
            throw UsageError("\"\(text)\" is not a header field; the format is \"Name: value\".")
        }
        return HTTPField(name: name, value: value)
    }

    /// Removes the whitespace around a field's value, which is not part of it (RFC 9110, 5.5).
    private static func trimmed(_ text: Substring) -> String {
        var value = text.drop { $0 == " " || $0 == "\t" }
        while let last = value.last, last == " " || last == "\t" { value.removeLast() }
        return String(value)
    }
}
