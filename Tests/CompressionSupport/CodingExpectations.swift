internal import CommandSupport
internal import FoundationEssentials
public import LinnetCompression
internal import Testing

/// The requirements on every content coding. Each function records an issue for a violation.
public struct CodingExpectations {
    private let coding: ContentCoding

    /// Expectations of a coding that has an encoder.
    public init(_ coding: ContentCoding) {
        self.coding = coding
    }

    /// Content of any size comes back as it was, however its bytes arrive.
    public func expectRoundTrips() throws {
        var random = SplitMix(seed: RandomSeed.next())
        for size in [0, 1, 2, 100, 65_535, 65_536, 65_537, 300_000] {
            for isText in [true, false] {
                let content = Data(
                    (0..<size).map { _ in
                        isText ? [97, 98, 10].randomElement(using: &random) ?? 0 : random.next(upperBound: 255)
                    })
                let encoded = try coding.encoded(content)
                #expect(try coding.decoded(encoded) == content)
                let step = size < 200 ? 1 : Int.random(in: 2...5000, using: &random)
                #expect(try decode(encoded, by: step) == content, "\(size) bytes by \(step)")
            }
        }
    }

    /// Content that ends early is an error at its end, not before.
    public func expectCutsAreFound() throws {
        let encoded = try coding.encoded(Data("A linnet is a small finch. It is a finch, and small.".utf8))
        for end in 1..<encoded.count {
            let decoder = try ContentDecoder([coding])
            decoder.append(encoded.prefix(end))
            while try decoder.next() != nil {}
            #expect(code { try decoder.finish() } == .truncated, "cut at \(end)")
        }
    }

    /// Bytes behind the content are an error, in the same chunk or in the next.
    public func expectTrailingBytesAreFound(_ trailing: [UInt8] = [0]) throws {
        let encoded = try coding.encoded(Data("A linnet".utf8))
        #expect(code { try coding.decoded(encoded + trailing) } == .trailingBytes)
        #expect(code { try decode(encoded + trailing, by: encoded.count) } == .trailingBytes)
    }

    /// A changed bit is an error or changes nothing.
    public func expectChangesAreFound() throws {
        let content = Data("A linnet is a small finch. It is a finch, and small.".utf8)
        let encoded = try coding.encoded(content)
        for index in encoded.indices {
            for bit in 0..<8 {
                var changed = encoded
                changed[index] ^= 1 << UInt8(bit)
                if let decoded = try? coding.decoded(changed) {
                    #expect(decoded == content, "byte \(index), bit \(bit)")
                }
            }
        }
    }

    /// Any bytes end in a result or an error, with bounded output.
    public func expectAnyBytesEnd(after beginning: [UInt8] = []) throws {
        var random = SplitMix(seed: RandomSeed.next())
        for _ in 0..<500 {
            let bytes =
                beginning + (0..<Int.random(in: 0...300, using: &random)).map { _ in random.next(upperBound: 255) }
            let limits = DecodingLimits { $0.maximumSize = 1 << 20 }
            _ = try? coding.decoded(Data(bytes), limits: limits)
        }
    }

    /// 10 GB of zeros are stopped by the ratio after little more than 1 MiB.
    public func expectRatioStopsZeros() throws {
        let decoded = try measured { () throws -> Int64 in
            let (size, error) = try decodeZeros(10_000_000_000, DecodingLimits())
            #expect(error?.code == .ratioExceeded)
            return size
        }
        #expect(decoded < 2 << 20)
    }

    /// 10 GB of zeros are stopped by the size: at 10 GB with LINNET_TEST_LARGE set, otherwise at a hundredth.
    public func expectSizeStopsZeros() throws {
        let limit: Int64 =
            ProcessInfo.processInfo.environment["LINNET_TEST_LARGE"] == nil ? 100_000_000 : 9_999_999_999
        let decoded = try measured { () throws -> Int64 in
            let limits = DecodingLimits {
                $0.maximumRatio = nil
                $0.maximumSize = limit
            }
            let (size, error) = try decodeZeros(10_000_000_000, limits)
            #expect(error?.code == .sizeExceeded)
            return size
        }
        #expect(decoded <= limit && decoded > limit - 65_536)
    }

    // MARK: Steps

    private func decode(_ encoded: Data, by step: Int) throws -> Data {
        let decoder = try ContentDecoder([coding])
        var (rest, decoded) = (encoded, Data())
        while !rest.isEmpty {
            decoder.append(rest.prefix(step))
            rest = rest.dropFirst(step)
            while let piece = try decoder.next() {
                #expect((1...65_536).contains(piece.count))
                decoded.append(piece)
            }
        }
        try decoder.finish()
        return decoded
    }

    /// Decodes zeros as they are encoded, until an error or their end.
    private func decodeZeros(_ size: Int64, _ limits: DecodingLimits) throws -> (size: Int64, error: CompressionError?)
    {
        let (encoder, decoder) = (try ContentEncoder(coding), try ContentDecoder([coding], limits: limits))
        let zeros = Data(count: 1_000_000)
        var (left, decoded) = (size, Int64(0))
        while left > 0 {
            encoder.append(zeros)
            left -= Int64(zeros.count)
            if left == 0 { encoder.finish() }
            while let piece = try encoder.next() {
                decoder.append(piece)
                do throws(CompressionError) {
                    while let zeros = try decoder.next() { decoded += Int64(zeros.count) }
                } catch {
                    return (decoded, error)
                }
            }
        }
        return (decoded, nil)
    }

    /// The peak of memory during the operation is at most 32 MB above the memory before it.
    private func measured<Result>(_ operation: () throws -> Result) throws -> Result {
        // Resets the peak (proc_pid_clear_refs(5)).
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try processMemory("VmHWM")
        let result = try operation()
        let grown = try processMemory("VmHWM") - before
        print("\(coding): the peak grew by \(grown >> 10) KiB")
        if !isSanitized { #expect(grown < 32_000_000) }
        return result
    }
}

/// The code of an operation's error; nil without an error.
public func code<Result>(_ operation: () throws -> Result) -> CompressionError.Code? {
    do {
        _ = try operation()
        return nil
    } catch {
        return (error as? CompressionError)?.code
    }
}

extension SplitMix {
    fileprivate mutating func next(upperBound: UInt8) -> UInt8 { UInt8(truncatingIfNeeded: next()) % upperBound }
}
