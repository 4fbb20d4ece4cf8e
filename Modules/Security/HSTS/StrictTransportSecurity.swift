internal import LinnetMessages

/// The value of a Strict-Transport-Security field (RFC 6797, section 6.1).
struct StrictTransportSecurity: Equatable {
    /// In seconds; zero means that the host is no longer known.
    var maximumAge: Int
    var includesSubdomains: Bool

    /// The longest age that is kept: ten years.
    static let longestAge = 10 * 365 * 86_400
    /// The longest value that is read, in bytes.
    static let longestValue = 4096

    /// Fails if the value does not conform: without max-age, with a directive that occurs twice or a value that is not
    /// of its form. Unknown directives are ignored.
    init?(_ value: String) {
        guard value.utf8.count <= Self.longestValue else { return nil }
        var scanner = DirectiveScanner(value)
        var directives: [String: String?] = [:]
        while !scanner.isAtEnd {
            guard let directive = scanner.directive() else { return nil }
            guard let name = directive.name else { continue }
            guard directives.updateValue(directive.value, forKey: name) == nil else { return nil }
        }
        guard let age = directives["max-age"].flatMap({ $0 }), let seconds = Self.seconds(age) else { return nil }
        maximumAge = seconds
        switch directives["includesubdomains"] {
        case nil: includesSubdomains = false
        case .some(nil): includesSubdomains = true
        case .some(.some): return nil
        }
    }

    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return text.utf8.reduce(0) { min($0 * 10 + Int($1 - 0x30), longestAge) }
    }
}

/// Takes a list of directives apart, which semicolons separate.
private struct DirectiveScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8)[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Reads a directive and the semicolon after it; the name is nil for an empty one, and the result for a malformed
    /// one.
    mutating func directive() -> (name: String?, value: String?)? {
        skipBlanks()
        let name = token()
        skipBlanks()
        var value: String?
        if !name.isEmpty, rest.first == UInt8(ascii: "=") {
            rest.removeFirst()
            skipBlanks()
            if rest.first == UInt8(ascii: "\"") {
                guard let quoted = quotedString() else { return nil }
                value = quoted
            } else {
                let text = token()
                guard !text.isEmpty else { return nil }
                value = text
            }
            skipBlanks()
        }
        guard rest.isEmpty || rest.removeFirst() == UInt8(ascii: ";") else { return nil }
        return (name.isEmpty ? nil : name.lowercased(), value)
    }

    private mutating func token() -> String {
        let token = rest.prefix(while: ASCII.isToken)
        rest = rest[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    private mutating func quotedString() -> String? {
        var content: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                content.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            content.append(escaped)
        }
        return nil
    }

    private mutating func skipBlanks() {
        rest = rest.drop(while: ASCII.isBlank)
    }
}
