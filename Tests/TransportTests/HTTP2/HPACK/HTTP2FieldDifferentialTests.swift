import CommandSupport
import HTTPTypes
import NIOCore
import NIOHPACK
import Testing

@testable import LinnetTransport

/// Compares HPACK with NIO's: each must decode the other's output.
@Suite("HPACK, compared with NIOHPACK", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2FieldDifferentialTests {
    private static let names = [
        "date", "server", "content-type", "x-a", "x-bb", "set-cookie", "etag", "vary", "x-\u{7c}", "last-modified",
    ]

    private static func value(_ dice: inout SplitMix) -> String {
        if Bool.random(using: &dice) { return ["", "1", "text/html", "Mon, 21 Oct"].randomElement(using: &dice) ?? "" }
        let bytes = (0..<Int.random(in: 0...60, using: &dice)).map { _ in
            UInt8.random(in: 0x21...0x7E, using: &dice)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Consecutive sections of a connection, which repeat many fields.
    private static func next(
        after section: [(name: String, value: String, HPACKIndexing)], _ dice: inout SplitMix
    ) -> [(name: String, value: String, HPACKIndexing)] {
        var section = section
        for _ in 0..<Int.random(in: 0...3, using: &dice) {
            let kinds: [HPACKIndexing] = [.indexable, .indexable, .nonIndexable, .neverIndexed]
            let line = (
                names.randomElement(using: &dice) ?? "", value(&dice), kinds.randomElement(using: &dice) ?? .indexable
            )
            if section.count > 3, let index = section.indices.randomElement(using: &dice) {
                section[index] = line
            } else {
                section.append(line)
            }
        }
        if section.count > 8 { section.removeFirst(4) }
        return section
    }

    @Test func blocksOfNIOHPACKAreDecoded() throws {
        var dice = SplitMix(seed: 7_541)
        for _ in 0..<300 {
            var encoder = HPACKEncoder(
                allocator: ByteBufferAllocator(), useHuffmanEncoding: Bool.random(using: &dice))
            var decoder = HTTP2FieldDecoder(maximumListSize: 65_536)
            var section: [(name: String, value: String, HPACKIndexing)] = []
            for _ in 0..<40 {
                if Int.random(in: 0..<10, using: &dice) == 0 {
                    try encoder.setDynamicTableSize([0, 64, 200, 4096].randomElement(using: &dice) ?? 0)
                }
                section = Self.next(after: section, &dice)
                var headers: HPACKHeaders = [":status": "200"]
                for (name, value, indexing) in section { headers.add(name: name, value: value, indexing: indexing) }
                var block = ByteBuffer()
                try encoder.encode(headers: headers, to: &block)
                let ours = try decode(block, &decoder)
                let fields = ours.fields.map { "\($0.name)=\($0.value)" }
                try #require(fields == section.map { "\($0.name)=\($0.value)" } && ours.status == 200)
            }
        }
    }

    @Test func ourBlocksAreDecodedByNIOHPACK() throws {
        var dice = SplitMix(seed: 7_542)
        for _ in 0..<300 {
            var encoder = HTTP2FieldEncoder()
            var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
            var section: [(name: String, value: String, HPACKIndexing)] = []
            for _ in 0..<40 {
                if Int.random(in: 0..<10, using: &dice) == 0 {
                    encoder.allow([0, 64, 200, 4096].randomElement(using: &dice) ?? 0)
                }
                section = Self.next(after: section, &dice)
                let lines = section.map { name, value, indexing in
                    HTTP2FieldEncoder.Line(name: name, value: value, indexing: Self.indexing(indexing))
                }
                var block = ByteBuffer()
                encoder.encode(lines, into: &block)
                let theirs = try decoder.decodeHeaders(from: &block)
                let texts = theirs.map { "\($0.name)=\($0.value) \($0.indexable == .neverIndexed)" }
                try #require(texts == section.map { "\($0.name)=\($0.value) \($0.2 == .neverIndexed)" })
            }
        }
    }

    private static func indexing(_ indexing: HPACKIndexing) -> HTTP2FieldEncoder.Indexing {
        switch indexing {
        case .indexable: .indexed
        case .nonIndexable: .notIndexed
        case .neverIndexed: .neverIndexed
        }
    }

    /// Invalid blocks: both refuse the same ones, except for an empty name, which is a stream error here, and integers
    /// beyond the limit here.
    @Test func bothRefuseTheSameBlocks() throws {
        var dice = SplitMix(seed: 7_543)
        var (accepted, refused) = (0, 0)
        for _ in 0..<20_000 {
            var encoder = HPACKEncoder(
                allocator: ByteBufferAllocator(), useHuffmanEncoding: Bool.random(using: &dice))
            var block = ByteBuffer()
            var headers: HPACKHeaders = [":status": "200"]
            for (name, value, indexing) in Self.next(after: [], &dice) {
                headers.add(name: name, value: value, indexing: indexing)
            }
            try encoder.encode(headers: headers, to: &block)
            var bytes = Array(block.readableBytesView)
            for _ in 0..<Int.random(in: 1...3, using: &dice) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &dice)
                switch Int.random(in: 0..<3, using: &dice) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &dice)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &dice), at: index)
                }
            }
            var theirDecoder = HPACKDecoder(allocator: ByteBufferAllocator())
            var ourDecoder = HTTP2FieldDecoder(maximumListSize: HPACKDecoder.defaultMaxHeaderListSize)
            var input = ByteBuffer(bytes: bytes)
            let theirs = try? theirDecoder.decodeHeaders(from: &input)
            let ours = try? decode(ByteBuffer(bytes: bytes), &ourDecoder)
            if ours?.flaw == .name, theirs == nil { continue }
            try #require((ours == nil) == (theirs == nil), "\(bytes)")
            guard let ours, let theirs else {
                refused += 1
                continue
            }
            accepted += 1
            // An invalid field is omitted, and invalid UTF-8 is repaired in two ways; everything else is equal.
            guard ours.flaw == nil, theirs.allSatisfy({ $0.value.utf8.allSatisfy { $0 < 0x80 } }) else { continue }
            let regular = theirs.filter { !$0.name.hasPrefix(":") }.map { "\($0.name)=\($0.value)" }
            try #require(ours.fields.map { "\($0.name)=\($0.value)" } == regular, "\(bytes)")
        }
        #expect(accepted > 2_000 && refused > 2_000)
    }

    private func decode(_ block: ByteBuffer, _ decoder: inout HTTP2FieldDecoder) throws -> HTTP2FieldSection {
        try block.withUnsafeReadableBytes { bytes throws(HPACKError) in try decoder.decode(bytes) }
    }
}
