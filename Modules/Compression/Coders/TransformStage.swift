internal import FoundationEssentials

/// A transform and its pending input.
struct TransformStage {
    private let transform: any ContentTransform
    private var input = Data()
    /// Whether the last step filled its output, so that more may be pending.
    private var mayHoldOutput = false
    /// Whether the content may end here. Empty content is complete in every coding: servers send the field for empty
    /// bodies too.
    private(set) var isComplete = true
    private(set) var read: Int64 = 0
    private(set) var written: Int64 = 0

    init(_ transform: any ContentTransform) {
        self.transform = transform
    }

    var needsInput: Bool { input.isEmpty && !mayHoldOutput }

    mutating func append(_ bytes: Data) {
        if input.isEmpty { input = bytes } else { input.append(bytes) }
    }

    /// Performs one step; returns the number of written bytes.
    mutating func step(isEnd: Bool = false, into room: UnsafeMutableRawBufferPointer) throws(CompressionError) -> Int {
        let transform = transform
        let result = input.withUnsafeBytes { bytes -> Result<ContentStep, CompressionError> in
            do throws(CompressionError) {
                return .success(try transform.transform(bytes, isEnd: isEnd, into: room))
            } catch {
                return .failure(error)
            }
        }
        let step = try result.get()
        guard (0...input.count).contains(step.read), (0...room.count).contains(step.written),
            step.read > 0 || step.written > 0 || input.isEmpty
        else { throw .libraryFailed("of the program", "it reads and writes nothing") }
        input = step.read == input.count ? Data() : input.dropFirst(step.read)
        mayHoldOutput = step.written == room.count
        isComplete = step.isComplete
        read += Int64(step.read)
        written += Int64(step.written)
        return step.written
    }
}
