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
        var scanner = FieldScanner(value)
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

extension FieldScanner {
    /// Reads a directive and the semicolon after it; the name is nil for an empty one, and the result for a malformed
    /// one.
    fileprivate mutating func directive() -> (name: String?, value: String?)? {
        skipBlanks()
        let name = token()
        skipBlanks()
        var value: String?
        if !name.isEmpty, take(UInt8(ascii: "=")) {
            skipBlanks()
            if let quoted = quotedString() {
                guard quoted.isClosed else { return nil }
                value = String(decoding: quoted.content, as: UTF8.self)
            } else {
                let token = token()
                guard !token.isEmpty else { return nil }
                value = String(decoding: token, as: UTF8.self)
            }
            skipBlanks()
        }
        guard isAtEnd || take(UInt8(ascii: ";")) else { return nil }
        return (name.isEmpty ? nil : String(decoding: name, as: UTF8.self).lowercased(), value)
    }
}
