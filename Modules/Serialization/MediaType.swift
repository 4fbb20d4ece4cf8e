/// A media type with its parameters, as Content-Type carries it (RFC 9110, section 8.3.1).
///
/// It is read as browsers read it (WHATWG MIME Sniffing, section 4.4): a parameter that is malformed is left out, and the
/// type stays. `application/json; charset=` is `application/json`, and an unquoted value may hold any printable character
/// but a semicolon.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// A parameter such as `charset=utf-8`.
    struct Parameter: Hashable {
        /// The name in lower case.
        let name: String
        /// The value without quotes.
        let value: String
    }

    /// The type in lower case, such as `text`.
    public let type: String
    /// The subtype in lower case, such as `html` or `problem+json`.
    public let subtype: String
    private let list: [Parameter]

    /// Reads a media type; nil if the text does not begin with a type and a subtype.
    public init?(_ text: String) {
        var scanner = MediaTypeScanner(text)
        guard let parsed = scanner.scan() else { return nil }
        (type, subtype, list) = parsed
    }

    init(type: String, subtype: String, parameters: [Parameter]) {
        (self.type, self.subtype, list) = (type, subtype, parameters)
    }

    /// The type and subtype, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)" }

    /// The parameters in order, with names in lower case and values without quotes; of those with the same name, the first.
    public var parameters: [(name: String, value: String)] { list.map { ($0.name, $0.value) } }

    /// The essence, for messages.
    public var description: String { essence }

    /// The first parameter of a name, which is compared without case.
    public func parameter(_ name: String) -> String? {
        let name = name.lowercased()
        return list.first { $0.name == name }?.value
    }

    /// Whether the type is one that a pattern names: `text/html`, `text/*`, `*/*`, `application/*+json`.
    ///
    /// `*` before a suffix stands for any name, and for the suffix alone: `application/*+json` takes
    /// `application/problem+json`, but not `application/json`. Parameters of the pattern are not looked at.
    public func matches(_ pattern: String) -> Bool {
        let essence = pattern.prefix { $0 != ";" }
        guard let slash = essence.firstIndex(of: "/") else { return false }
        let wantedType = trimmed(essence[..<slash]).lowercased()
        let wantedSubtype = trimmed(essence[essence.index(after: slash)...]).lowercased()
        guard wantedType == "*" || wantedType == type else { return false }
        if wantedSubtype == "*" { return true }
        if wantedSubtype.hasPrefix("*+") {
            return subtype.hasSuffix(wantedSubtype.dropFirst()) && subtype.utf8.count > wantedSubtype.utf8.count - 1
        }
        return wantedSubtype == subtype
    }

    private func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...last]
    }
}
