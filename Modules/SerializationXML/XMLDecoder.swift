import CLibXML2

/// Turns the bytes of a document into UTF-8, a part at a time.
///
/// What comes out is valid UTF-8: the parser is given nothing else.
struct XMLDecoder {
    private var rest: UnsafeRawBufferPointer
    /// Nil if the bytes are UTF-8 already.
    private let converter: XMLConverter?
    private var isFlushed = false

    /// The bytes must outlive the decoder. Throws ``XMLSyntaxError`` if there is no such encoding.
    init(_ bytes: UnsafeRawBufferPointer, from name: String) throws(XMLSyntaxError) {
        rest = bytes
        converter = XMLEncoding.isUTF8(name) ? nil : try XMLConverter(from: name)
    }

    /// Fills the buffer as far as it can, and returns how many bytes it holds; 0 at the end.
    ///
    /// Throws ``XMLSyntaxError`` where bytes are not in the encoding, after it has returned all that comes before.
    mutating func decode(into output: UnsafeMutableRawBufferPointer) throws(XMLSyntaxError) -> Int {
        guard let converter else { return try copy(into: output) }
        if isFlushed { return 0 }
        let step = converter.convert(rest, into: output)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(step.read))
        if step.written == 0, step.isBroken { throw Self.broken }
        guard rest.isEmpty else { return step.written }
        // Some converters keep a character back, to see whether it combines with the next.
        let tail = converter.flush(into: UnsafeMutableRawBufferPointer(rebasing: output.dropFirst(step.written)))
        isFlushed = true
        return step.written + tail
    }

    private mutating func copy(into output: UnsafeMutableRawBufferPointer) throws(XMLSyntaxError) -> Int {
        var count = min(output.count, rest.count)
        // No character is divided.
        while count < rest.count, count > 0, rest[count] & 0xC0 == 0x80 { count -= 1 }
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        let valid = Self.validCount(part)
        if valid == 0, !rest.isEmpty { throw Self.broken }
        output.copyMemory(from: UnsafeRawBufferPointer(rebasing: part.prefix(valid)))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(valid))
        return valid
    }

    private static var broken: XMLSyntaxError {
        XMLSyntaxError(kind: .malformed, line: 0, detail: "bytes that are not in the document's encoding")
    }

    /// How many bytes from the beginning are valid UTF-8.
    private static func validCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        if String(validating: bytes, as: UTF8.self) != nil { return bytes.count }
        var count = 0
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }
}

/// A converter of the C library.
private final class XMLConverter {
    private let handle: UnsafeMutableRawPointer

    init(from name: String) throws(XMLSyntaxError) {
        guard let handle = linnet_iconv_open(name) else {
            throw XMLSyntaxError(kind: .unsupportedEncoding, line: 0, detail: XMLEncoding.shown(name))
        }
        self.handle = handle
    }

    deinit { linnet_iconv_close(handle) }

    /// Converts what fits; `isBroken` says that it stopped at bytes that it does not understand, or that end too soon.
    func convert(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (read: Int, written: Int, isBroken: Bool) {
        var source = input.baseAddress?.assumingMemoryBound(to: CChar.self)
        var sourceCount = input.count
        var target = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        var targetCount = output.count
        let status = linnet_iconv(handle, &source, &sourceCount, &target, &targetCount)
        return (input.count - sourceCount, output.count - targetCount, status != 0)
    }

    func flush(into output: UnsafeMutableRawBufferPointer) -> Int {
        var target = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        var targetCount = output.count
        _ = linnet_iconv(handle, nil, nil, &target, &targetCount)
        return output.count - targetCount
    }
}
