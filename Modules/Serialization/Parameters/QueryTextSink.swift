internal import LinnetMessages

/// Writes pairs as `name=value`, joined by `&`.
struct QueryTextSink: ParameterSink {
    static var escapesNames: Bool { true }
    let encoder: QueryEncoder
    private(set) var bytes: [UInt8] = []

    init(encoder: QueryEncoder) {
        self.encoder = encoder
        bytes.reserveCapacity(256)
    }

    var spaceStyle: QueryEncoder.SpaceStyle { encoder.spaceStyle }

    mutating func take(name: [UInt8], value: ParameterValue) {
        start(name)
        if value == .null, encoder.nullStyle == .bareKey { return }
        bytes.append(UInt8(ascii: "="))
        append(value)
    }

    mutating func take(name: [UInt8], list: [ParameterValue]) {
        start(name)
        bytes.append(UInt8(ascii: "="))
        for (index, value) in list.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(value)
        }
    }

    mutating func takeBare(name: [UInt8]) { start(name) }

    private mutating func start(_ name: [UInt8]) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        bytes.append(contentsOf: name)
    }

    private mutating func append(_ value: ParameterValue) {
        if case .string(let text) = value {
            bytes.appendPercentEncoded(text, spaceStyle: spaceStyle)
        } else {
            bytes.appendPercentEncoded(encoder.text(of: value), spaceStyle: spaceStyle)
        }
    }
}

/// Collects pairs.
struct EntrySink: ParameterSink {
    static var escapesNames: Bool { false }
    let encoder: QueryEncoder
    private(set) var entries: [ParameterValue.Entry] = []

    init(encoder: QueryEncoder) { self.encoder = encoder }

    var spaceStyle: QueryEncoder.SpaceStyle { .percentEncoded }

    mutating func take(name: [UInt8], value: ParameterValue) {
        entries.append(ParameterValue.Entry(String(decoding: name, as: UTF8.self), value))
    }

    mutating func take(name: [UInt8], list: [ParameterValue]) {
        let text = list.map(encoder.text(of:)).joined(separator: ",")
        entries.append(ParameterValue.Entry(String(decoding: name, as: UTF8.self), .string(text)))
    }

    mutating func takeBare(name: [UInt8]) { take(name: name, value: .null) }
}

extension [UInt8] {
    /// Appends a text with percent-encoding, except for unreserved characters, `/` and `?` (RFC 3986, sections 2.1
    /// and 3.4).
    mutating func appendPercentEncoded(_ text: String, spaceStyle: QueryEncoder.SpaceStyle) {
        var text = text
        text.withUTF8 { utf8 in
            var written = 0
            for (index, byte) in utf8.enumerated() where !ASCII.isPlainInQuery(byte) {
                append(contentsOf: utf8[written..<index])
                written = index + 1
                if byte == 0x20, spaceStyle == .plus {
                    append(UInt8(ascii: "+"))
                } else {
                    append(UInt8(ascii: "%"))
                    append(ASCII.hexadecimalDigit(byte >> 4))
                    append(ASCII.hexadecimalDigit(byte & 0x0F))
                }
            }
            append(contentsOf: utf8[written...])
        }
    }
}
