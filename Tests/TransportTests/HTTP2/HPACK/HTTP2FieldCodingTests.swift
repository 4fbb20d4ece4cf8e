import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

/// The examples of RFC 7541, appendix C, byte by byte.
@Suite("HPACK", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2FieldCodingTests {
    typealias Line = HTTP2FieldEncoder.Line

    /// A server with a table of 256 bytes, so that entries are evicted (C.5 and C.6).
    @Test(arguments: [
        [
            "3fe101 4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54"
                + "6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
            "4803333037c1c0bf",
            "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48"
                + "514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
        ],
        [
            "3fe101 488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8"
                + "e9ae82ae43d3",
            "4883640effc1c0bf",
            "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af"
                + "27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
        ],
    ])
    func theExamplesAreDecoded(blocks: [String]) throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
        let texts = try blocks.map { try text(decoder.decode(hex: $0)) }
        let common = "cache-control=private date=Mon, 21 Oct 2013 20:13:21 GMT location=https://www.example.com"
        #expect(
            texts == [
                "302 \(common)", "307 \(common)",
                "200 cache-control=private date=Mon, 21 Oct 2013 20:13:22 GMT location=https://www.example.com "
                    + "content-encoding=gzip "
                    + "set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            ])
    }

    /// Values of octets that are not UTF-8, and texts that are canonically equivalent.
    @Test func octetsAreSentAsTheyAre() throws {
        let name = try #require(HTTPField.Name("if-range"))
        let other = try #require(HTTPField.Name("x-other"))
        let values: [[UInt8]] = [[0x22, 0xE9, 0x22], [0x22, 0xE8, 0x22], [0xC3, 0xA9], [0x65, 0xCC, 0x81]]
        var (encoder, decoder) = (HTTP2FieldEncoder(), HTTP2FieldDecoder(maximumListSize: 16_384))
        for value in values + values {
            let fields = HTTPFields([name, other].map { HTTPField(name: $0, value: value) })
            let lines = try HTTP2RequestHead.make(.http2(fields: fields)).filter { !$0.name.hasPrefix(":") }
            var buffer = ByteBuffer()
            encoder.encode(lines, into: &buffer)
            let section = try buffer.withUnsafeReadableBytes { bytes throws(HPACKError) in try decoder.decode(bytes) }
            #expect(section.fields.map { $0.withUnsafeBytesOfValue { Array($0) } } == [value, value])
        }
    }

    @Test func theExamplesAreEncoded() {
        var encoder = HTTP2FieldEncoder()
        let host = Line(name: ":authority", value: "www.example.com")
        let get = Line(name: ":method", value: "GET")
        #expect(
            hex(encoding: [get, Line(name: ":scheme", value: "http"), Line(name: ":path", value: "/"), host], &encoder)
                == "828684418cf1e3c2e5f23a6ba0ab90f4ff")
        #expect(
            hex(
                encoding: [
                    get, Line(name: ":scheme", value: "http"), Line(name: ":path", value: "/"), host,
                    Line(name: "cache-control", value: "no-cache"),
                ], &encoder) == "828684be5886a8eb10649cbf")
        #expect(
            hex(
                encoding: [
                    get, Line(name: ":scheme", value: "https"), Line(name: ":path", value: "/index.html"), host,
                    Line(name: "custom-key", value: "custom-value"),
                ], &encoder) == "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf")
    }

    @Test func fieldsThatMustNotBeIndexedAreMarked() {
        var encoder = HTTP2FieldEncoder()
        let lines = [
            Line(name: ":path", value: "/~", indexing: .notIndexed),
            Line(name: "authorization", value: "~~", indexing: .neverIndexed),
            Line(name: "x~", value: "~", indexing: .neverIndexed),
        ]
        // Equal both times, since nothing was indexed; `~` is longer in Huffman code.
        #expect(hex(encoding: lines, &encoder) == "04022f7e1f08027e7e1002787e017e")
        #expect(hex(encoding: lines, &encoder) == "04022f7e1f08027e7e1002787e017e")
    }

    /// RFC 7541, 4.2: the smallest and the last size are announced before the next block.
    @Test(arguments: [
        ([0], "20"), ([0, 4096], "203fe11f"), ([0, 10], "202a"), ([100, 50, 80], "3f133f31"), ([9000], ""),
    ])
    func theServersTableSizeIsObserved(sizes: [Int], update: String) {
        var encoder = HTTP2FieldEncoder()
        let line = Line(name: ":method", value: "GET")
        for size in sizes { encoder.allow(size) }
        #expect(hex(encoding: [line], &encoder) == update + "82")
        #expect(hex(encoding: [line], &encoder) == "82")
    }

    @Test(
        arguments: [
            ("80", .invalidIndex), ("be", .invalidIndex), ("ff", .truncated), ("ffffffffffff0f", .integerTooLarge),
            // The largest integer, and one more.
            ("ff81ffff7f", .invalidIndex), ("ff82ffff7f", .integerTooLarge),
            ("ff8080808080808001", .integerTooLarge), ("40", .truncated), ("0f0d", .truncated),
            ("0f0d0531", .truncated),
            // A table of 4,097 bytes; changes behind a field and three of them.
            ("3fe21f", .invalidTableSize), ("8820", .invalidTableSize), ("202020", .invalidTableSize),
            // Padding of zeros, of eight ones, and the end of a string within one.
            ("0f0d8106", .invalidHuffmanCode), ("0f0d821fff", .invalidHuffmanCode),
            ("0f0d84ffffffff", .invalidHuffmanCode),
        ] as [(String, HPACKError)])
    func invalidBlocksAreRefused(block: String, error: HPACKError) {
        var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
        #expect(throws: error) { try decoder.decode(hex: block) }
    }

    /// No limit of the caller allows more fields than HTTPFields can contain.
    @Test func tooManyFieldsAreRefused() throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: .max)
        let most = [UInt8](repeating: 0x90, count: HTTP2FieldDecoder.mostLines)
        #expect(try most.withUnsafeBytes { try decoder.decode($0) }.fields.count == HTTP2FieldDecoder.mostLines)
        let more = most + [0x90]
        #expect(throws: HPACKError.listTooLarge) { try more.withUnsafeBytes { try decoder.decode($0) } }
    }

    @Test func theSizeOfAFieldListIsLimited() throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: 3 * 42)
        #expect(try text(decoder.decode(hex: "888888")) == "200")
        #expect(throws: HPACKError.listTooLarge) { try decoder.decode(hex: "88888888") }
    }

    @Test(
        arguments: [
            ("", nil), ("88", nil), ("8888", .secondStatus), ("0f0d0131 88", .lateStatus), ("82", .pseudoField),
            ("0803313030", nil), ("08023230", .status), ("0803303939", .status), ("0804 32303030", .status),
            ("08033230 78", .status),
            ("00 0358 2d79 0131", .name), ("00 00 0131", .name), ("00 03612062 0131", .name), ("00 01ff 0131", .name),
            ("00 0a636f6e6e656374696f6e 0131", .connection), ("00 07757067726164650131", .connection),
            ("0f2a0131", .connection), ("0f0d0161", .contentLength), ("0f0d00", .contentLength),
            ("0f0d0131 0f0d0132", .contentLength), ("0f0d0131 0f0d0131", .contentLength),
            ("00 0178 03610a62", .value), ("00 0178 0100", .value), ("00 0178 0361ff62", nil), ("00 0178 00", nil),
        ] as [(String, HTTP2MalformedField?)])
    func fieldsAreChecked(block: String, flaw: HTTP2MalformedField?) throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
        #expect(try decoder.decode(hex: block).flaw == flaw)
        // Again, from the remembered block.
        #expect(try decoder.decode(hex: block).flaw == flaw)
    }

    /// RFC 7541, 4.2.
    @Test func aBlockBeginsWithUpToTwoChangesOfTheTable() throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
        #expect(try text(decoder.decode(hex: "88 4001780131")) == "200 x=1")
        #expect(try text(decoder.decode(hex: "20 3fe11f 88 4001790132")) == "200 y=2")
        #expect(try text(decoder.decode(hex: "88 be")) == "200 y=2")
    }

    /// More blocks than are remembered, in turns.
    @Test func blocksMayRepeatInAnyOrder() throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
        for _ in 0..<3 {
            for (index, status) in [200, 204, 206, 304, 400, 404, 500].enumerated() {
                #expect(try text(decoder.decode(hex: String(0x88 + index, radix: 16))) == "\(status)")
            }
        }
    }

    /// Lines beyond the remembered ones, indices of two bytes, and lines that are evicted.
    @Test(arguments: [80, 150]) func manyLinesAreIndexed(count: Int) throws {
        var (encoder, decoder) = (HTTP2FieldEncoder(), HTTP2FieldDecoder(maximumListSize: 65_536))
        let lines = (0..<count).map { Line(name: "x-\($0)", value: "value \($0 % 7)") }
        for _ in 0..<3 {
            for lines in [lines, Array(lines[(count / 2)...] + lines[..<(count / 2)])] {
                var buffer = ByteBuffer()
                encoder.encode(lines, into: &buffer)
                let section = try buffer.withUnsafeReadableBytes { bytes throws(HPACKError) in
                    try decoder.decode(bytes)
                }
                #expect(section.fields.map { "\($0.name)=\($0.value)" } == lines.map { "\($0.name)=\($0.value)" })
            }
        }
    }

    /// A line of more than half of the table is not indexed: it would evict more useful ones.
    @Test(arguments: [(2048, "40"), (2049, "00")]) func largeLinesAreNotIndexed(size: Int, first: String) {
        var encoder = HTTP2FieldEncoder()
        let line = Line(name: "x", value: String(repeating: "~", count: size - 33))
        #expect(hex(encoding: [line], &encoder).hasPrefix(first))
    }

    @Test func theCallersLimitsMayBeReached() throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
        let section = try decoder.decode(hex: "88 0001780131 0001790132")
        // `:status` and `200`, and two fields of two bytes.
        for (fields, bytes, isAllowed) in [(2, 14, true), (1, 14, false), (2, 13, false)] {
            var limits = TransportConfiguration.ResponseLimits()
            (limits.headFields, limits.headBytes) = (fields, bytes)
            #expect(((try? section.check(limits)) != nil) == isAllowed)
        }
    }

    /// The same bytes have another meaning after the table has changed.
    @Test func rememberedBlocksAreInvalidAfterTheTableChanged() throws {
        var decoder = HTTP2FieldDecoder(maximumListSize: 16_384)
        // Adds x: 1, then the newest entry's name with another value, and the same bytes again.
        #expect(try text(decoder.decode(hex: "88 4001780131")) == "200 x=1")
        #expect(try text(decoder.decode(hex: "88 be")) == "200 x=1")
        #expect(try text(decoder.decode(hex: "88 be")) == "200 x=1")
        #expect(try text(decoder.decode(hex: "88 7e0132 4001790133")) == "200 x=2 y=3")
        #expect(try text(decoder.decode(hex: "88 7e0132 4001790133")) == "200 y=2 y=3")
        #expect(try text(decoder.decode(hex: "88 be")) == "200 y=3")
        // Emptied.
        #expect(try text(decoder.decode(hex: "20 88")) == "200")
        #expect(throws: HPACKError.invalidIndex) { try decoder.decode(hex: "88 be") }
    }

    private func text(_ section: HTTP2FieldSection) -> String {
        let fields = section.fields.map { "\($0.name)=\($0.value)" }
        return ([section.status.map { "\($0)" }].compactMap { $0 } + fields).joined(separator: " ")
    }

    private func hex(encoding lines: [Line], _ encoder: inout HTTP2FieldEncoder) -> String {
        var buffer = ByteBuffer()
        encoder.encode(lines, into: &buffer)
        return buffer.readableBytesView.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

extension HTTP2FieldDecoder {
    /// Decodes a block that is written in hexadecimal digits and blanks.
    fileprivate mutating func decode(hex: String) throws -> HTTP2FieldSection {
        let digits = hex.filter { $0 != " " }.compactMap { $0.hexDigitValue.map { UInt8($0) } }
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return try bytes.withUnsafeBytes { bytes throws(HPACKError) in try decode(bytes) }
    }
}
