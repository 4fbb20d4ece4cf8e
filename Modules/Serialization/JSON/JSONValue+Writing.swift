public import FoundationEssentials

extension JSONValue: CustomStringConvertible {
    /// The value as a UTF-8 text. Numbers are written with the digits they were read with.
    public func data(options: JSONWritingOptions = JSONWritingOptions()) -> Data {
        Data(bytes(options: options))
    }

    /// The value as a text on one line.
    public var description: String {
        String(decoding: bytes(options: JSONWritingOptions()), as: UTF8.self)
    }

    private func bytes(options: JSONWritingOptions) -> [UInt8] {
        var writer = JSONWriter(options: options)
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.write(word: "null")
        case .bool(let value): writer.write(word: value ? "true" : "false")
        case .number(let value): writer.write(number: value.text)
        case .string(let value): writer.write(value)
        case .array(let values):
            writer.open(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                writer.separate(isFirst: index == 0)
                value.write(to: &writer)
            }
            writer.close(UInt8(ascii: "]"), isEmpty: values.isEmpty)
        case .object(let object): write(object, to: &writer)
        }
    }

    private func write(_ object: JSONObject, to writer: inout JSONWriter) {
        writer.open(UInt8(ascii: "{"))
        let entries = Array(object)
        let ordered =
            writer.options.sortsKeys
            ? entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } : entries
        for (index, entry) in ordered.enumerated() {
            writer.separate(isFirst: index == 0)
            writer.write(entry.key)
            writer.writeColon()
            entry.value.write(to: &writer)
        }
        writer.close(UInt8(ascii: "}"), isEmpty: entries.isEmpty)
    }
}
