/// The parameters of permessage-deflate (RFC 7692) after a server's agreement. Pure.
struct DeflateExtension: Equatable {
    static let name = "permessage-deflate"
    /// The offer: the client accepts all parameters of the server, which may limit the client's window.
    static let offer = "permessage-deflate; client_max_window_bits"

    /// Whether the server compresses each message on its own.
    var serverTakesNoContextOver = false
    /// Whether the client must compress each message on its own.
    var clientTakesNoContextOver = false
    /// The largest window of the server's messages, as a power of two.
    var serverWindowBits: Int32 = 15
    /// The largest window of the client's messages.
    var clientWindowBits: Int32 = 15

    /// Whether messages can be compressed: zlib writes no raw deflate with a window of 2^8. Sending uncompressed
    /// messages is always allowed.
    var canDeflate: Bool { clientWindowBits > 8 }

    init() {}

    /// Parses the elements of Sec-WebSocket-Extensions in a response. Returns nil unless there is exactly one
    /// permessage-deflate with valid parameters, each at most once (RFC 7692, section 7.1).
    init?(_ values: [String]) {
        guard values.count == 1, !values[0].contains(",") else { return nil }
        var parts = values[0].split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
        guard parts.removeFirst().lowercased() == Self.name else { return nil }
        var names = Set<String>()
        for part in parts {
            let (name, value) = Self.parameter(part)
            guard names.insert(name).inserted else { return nil }
            switch (name, value) {
            case ("server_no_context_takeover", nil): serverTakesNoContextOver = true
            case ("client_no_context_takeover", nil): clientTakesNoContextOver = true
            case ("server_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                serverWindowBits = bits
            case ("client_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                clientWindowBits = bits
            default: return nil
            }
        }
    }

    /// Parses a name and its optional value, which may be quoted.
    private static func parameter(_ part: Substring) -> (name: String, value: Substring?) {
        guard let equals = part.firstIndex(of: "=") else { return (part.lowercased(), nil) }
        var value = trimmed(part[part.index(after: equals)...])
        if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        return (trimmed(part[..<equals]).lowercased(), value)
    }

    /// A decimal number from 8 to 15 without leading zeros.
    private static func windowBits(_ value: Substring) -> Int32? {
        (Int32(8)...15).first { String($0) == value }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let text = text.drop { $0 == " " || $0 == "\t" }
        return text.lastIndex { $0 != " " && $0 != "\t" }.map { text[...$0] } ?? ""
    }
}
