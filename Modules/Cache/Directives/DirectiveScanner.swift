internal import LinnetMessages

/// Splits the value of a Cache-Control field into directives (RFC 9111, section 5.2).
struct DirectiveScanner {
    enum Argument: Equatable {
        case absent
        /// A token or the content of a quoted string.
        case bytes([UInt8])
        case malformed
    }

    struct Directive {
        /// A token in lower case.
        let name: String
        let argument: Argument

        /// The argument as a number; nil if it is absent or anything else.
        var seconds: Int64? {
            guard case .bytes(let bytes) = argument else { return nil }
            return DeltaSeconds.parse(bytes)
        }

        /// The argument as text.
        var text: String? {
            guard case .bytes(let bytes) = argument else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// The argument as a list of field names. Anything else means the whole response, which is more restrictive.
        var scope: CacheDirectives.Scope {
            guard let text, let names = TokenList.names(text), !names.isEmpty else { return .response }
            return .fields(Set(names))
        }
    }

    private var scanner: FieldScanner

    init(_ value: String) { scanner = FieldScanner(value) }

    /// The next directive; nil at the end. Elements whose name is not a token are skipped.
    mutating func next() -> Directive? {
        while !scanner.isAtEnd {
            let text = scanner.until { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "=") }
            let name = text.trimmed
            let hasSpaceBeforeArgument = text.last.map(ASCII.isBlank) ?? false
            let argument = self.argument()
            _ = scanner.take(UInt8(ascii: ","))
            guard !name.isEmpty, name.allSatisfy(ASCII.isToken) else { continue }
            return Directive(
                name: String(decoding: name.map(ASCII.lowercase), as: UTF8.self),
                argument: hasSpaceBeforeArgument && argument != .absent ? .malformed : argument)
        }
        return nil
    }

    /// Ends at a comma or at the end.
    private mutating func argument() -> Argument {
        guard scanner.take(UInt8(ascii: "=")) else { return .absent }
        let start = scanner.position
        if let quoted = scanner.quotedString() {
            // Directives after an unclosed quotation mark still count, because ignoring them could lift a restriction.
            if !quoted.isClosed { scanner.position = start }
            let rest = rest()
            return quoted.isClosed && rest.allSatisfy(ASCII.isBlank) ? .bytes(quoted.content) : .malformed
        }
        let token = rest().trimmedAtEnd
        return !token.isEmpty && token.allSatisfy(ASCII.isToken) ? .bytes(Array(token)) : .malformed
    }

    private mutating func rest() -> ArraySlice<UInt8> { scanner.until { $0 == UInt8(ascii: ",") } }
}
