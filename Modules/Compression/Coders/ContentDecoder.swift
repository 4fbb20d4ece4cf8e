public import FoundationEssentials

/// Decodes one content as it arrives, in pieces of at most 64 KiB.
///
/// ```swift
/// let decoder = try ContentDecoder([.gzip])
/// for try await chunk in body {
///     decoder.append(chunk)
///     while let piece = try decoder.next() { consume(piece) }
/// }
/// try decoder.finish()
/// ```
/// The memory is bounded by the windows of the codings and the appended bytes, whatever the size of the content. After
/// an error, the decoder throws the same error again.
public final class ContentDecoder {
    private static let pieceSize = 64 * 1024

    /// The stages, in decoding order: the coding that was applied last comes first.
    private var stages: [TransformStage] = []
    private var input = Data()
    private var failure: CompressionError?
    private let limits: DecodingLimits
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - codings: The codings in the order in which they were applied; an empty array passes the content through.
    ///   - limits: The limits on the decoded content.
    /// - Throws: ``CompressionError`` with ``CompressionError/Code/tooManyCodings``, or a failure of a coding's
    ///   library.
    public init(_ codings: [ContentCoding], limits: DecodingLimits = DecodingLimits()) throws(CompressionError) {
        self.limits = limits
        guard codings.count <= limits.maximumCodings else {
            throw CompressionError(
                code: .tooManyCodings, message: "The content has more than \(limits.maximumCodings) codings.")
        }
        for coding in codings.reversed() { stages.append(TransformStage(try coding.makeDecoder())) }
    }

    deinit { room.deallocate() }

    /// Adds coded bytes for ``next()``.
    public func append(_ bytes: Data) {
        if input.isEmpty { input = bytes } else { input.append(bytes) }
    }

    /// Returns the next piece of the decoded content; nil if it needs more coded bytes.
    ///
    /// - Throws: ``CompressionError`` for bytes that are not valid, that follow the content, or that exceed a limit.
    public func next() throws(CompressionError) -> Data? {
        if let failure { throw failure }
        do throws(CompressionError) {
            return try piece(of: stages.count - 1)
        } catch {
            failure = error
            throw error
        }
    }

    /// Checks that the content is complete. Empty content is.
    ///
    /// - Throws: ``CompressionError`` with ``CompressionError/Code/truncated``.
    public func finish() throws(CompressionError) {
        if let failure { throw failure }
        guard stages.allSatisfy(\.isComplete), input.isEmpty else {
            throw CompressionError(code: .truncated, message: "The content ends in the middle of its coding.")
        }
    }

    private func piece(of index: Int) throws(CompressionError) -> Data? {
        guard index >= 0 else {
            defer { input = Data() }
            return input.isEmpty ? nil : input
        }
        while true {
            if stages[index].needsInput {
                guard let bytes = try piece(of: index - 1) else { return nil }
                stages[index].append(bytes)
            }
            let count = try stages[index].step(into: room)
            try check(index)
            if count > 0 { return Data(UnsafeRawBufferPointer(rebasing: room[..<count])) }
        }
    }

    /// Checks the limits. They also apply between two codings, because a huge intermediate result may become small
    /// again but take long.
    private func check(_ index: Int) throws(CompressionError) {
        let size = stages[index].written
        if let limit = limits.maximumSize, index == stages.count - 1, size > limit {
            throw CompressionError(
                code: .sizeExceeded, message: "The decoded content has more than \(limit) bytes.")
        }
        if let ratio = limits.maximumRatio, size > DecodingLimits.sizeWithoutRatio,
            size / Int64(max(1, ratio)) > stages[0].read
        {
            throw CompressionError(
                code: .ratioExceeded,
                message: "The decoded content has more than \(ratio) bytes for each byte that was received.")
        }
    }
}
