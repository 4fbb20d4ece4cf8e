internal import LinnetMessages

/// Parses a list of challenges (RFC 9110, section 11.6.1), in which a comma separates both challenges and parameters.
struct AuthenticationChallengeParser {
    private var scanner: FieldScanner

    init(_ bytes: [UInt8]) {
        scanner = FieldScanner(bytes[...])
    }

    mutating func challenges(upTo limit: Int) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        while challenges.count < limit, skipSeparators(), let challenge = challenge() { challenges.append(challenge) }
        return challenges
    }

    /// Parses a scheme and the token68 value or the parameters after it; returns nil without a valid scheme.
    private mutating func challenge() -> AuthenticationChallenge? {
        guard let scheme = token() else { return nil }
        var challenge = AuthenticationChallenge(scheme: scheme)
        guard let next = scanner.current, next != .comma else { return challenge }
        guard ASCII.isBlank(next) else { return nil }
        scanner.skipBlanks()
        if isAtEndOfElement { return challenge }
        if let token68 = token68() {
            challenge.token68 = token68
            return challenge
        }
        let start = scanner.position
        while let (name, value) = parameter() {
            if challenge.parameters[name] == nil { challenge.add(name, value) }
            guard skipSeparators() else { break }
        }
        // Neither a token68 value nor a parameter follows the scheme, so the rest of the list is malformed.
        if scanner.position == start { skipAll() }
        return challenge
    }

    /// Parses a parameter; returns nil and consumes nothing if the next element is not a parameter.
    private mutating func parameter() -> (name: String, value: [UInt8])? {
        let start = scanner.position
        if let name = token() {
            scanner.skipBlanks()
            if scanner.take(.equals) {
                scanner.skipBlanks()
                if let value = value(), isAtEndOfElement { return (name.lowercased(), value) }
                // The parameter is malformed, so the boundaries of the elements after it are unknown.
                skipAll()
                return nil
            }
        }
        scanner.position = start
        return nil
    }

    /// Parses a token or a quoted string with both quotation marks.
    private mutating func value() -> [UInt8]? {
        if let quoted = scanner.quotedString() { return quoted.isClosed ? quoted.content : nil }
        let token = scanner.token()
        return token.isEmpty ? nil : Array(token)
    }

    private mutating func token68() -> String? {
        let start = scanner.position
        let end = scanner.until { !$0.isToken68 }.endIndex
        scanner.until { $0 != .equals }
        if end > start, isAtEndOfElement {
            return String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
        }
        scanner.position = start
        return nil
    }

    private mutating func token() -> String? {
        let token = scanner.token()
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    private var isAtEndOfElement: Bool {
        let next = scanner.bytes[scanner.position...].first { !ASCII.isBlank($0) }
        return next == nil || next == .comma
    }

    /// Skips separators, and returns whether another element follows.
    private mutating func skipSeparators() -> Bool {
        scanner.until { !ASCII.isBlank($0) && $0 != .comma }
        return !scanner.isAtEnd
    }

    private mutating func skipAll() { scanner.position = scanner.bytes.endIndex }
}

extension UInt8 {
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let equals = UInt8(ascii: "=")

    /// Whether the byte may occur in a token68 value, apart from its padding (RFC 9110, section 11.2).
    fileprivate var isToken68: Bool { ASCII.isAlphanumeric(self) || "-._~+/".utf8.contains(self) }
}
