import FoundationEssentials
import LinnetSerialization

/// Encodes a form as it is pulled, chunk by chunk.
struct MultipartBodyReader: HTTPBodyReader {
    static let chunkSize = 64 * 1024

    /// What comes next.
    private enum Step {
        /// The delimiter and head of a part.
        case head(Int)
        /// Bytes that are in memory, from an offset on; then another step.
        indirect case bytes(Data, then: Step)
        case content(Int)
        case file(OpenMultipartFile, Int)
        case stream(any HTTPBodyReader, remaining: Int64?, Int)
        case done
    }

    private let form: MultipartForm
    private var step = Step.head(0)

    init(form: MultipartForm) { self.form = form }

    mutating func next() async throws -> Data? {
        let chunk = ChunkBuffer(capacity: Self.chunkSize)
        while chunk.room > 0, try await advance(chunk) {}
        return chunk.take()
    }

    /// Takes one step towards a full chunk; returns whether there is another.
    private mutating func advance(_ chunk: ChunkBuffer) async throws -> Bool {
        switch step {
        case .head(let index):
            step = .bytes(head(of: index), then: index < form.parts.count ? .content(index) : .done)
        case .bytes(let data, let then):
            let taken = chunk.append(data)
            step = taken == data.count ? then : .bytes(data.dropFirst(taken), then: then)
        case .content(let index):
            step = try open(index)
        case .file(let file, let index):
            let count = try file.read(into: chunk.unused)
            chunk.count += count
            if count == 0 { step = .head(index + 1) }
        case .stream(let reader, let remaining, let index):
            step = try await pull(reader, remaining: remaining, index: index)
        case .done:
            return false
        }
        return true
    }

    private func head(of index: Int) -> Data {
        var data = Data((index == 0 ? "--" : "\r\n--").utf8)
        data.append(contentsOf: form.boundary.utf8)
        if index < form.parts.count {
            data.append(contentsOf: "\r\n".utf8)
            data.append(form.parts[index].head)
        } else {
            data.append(contentsOf: "--\r\n".utf8)
        }
        return data
    }

    private func open(_ index: Int) throws -> Step {
        let part = form.parts[index]
        switch part.content {
        case .data(let data): return .bytes(data, then: .head(index + 1))
        case .file(let file): return .file(try file.open(), index)
        case .stream(let body):
            do {
                return .stream(try body.makeReader(), remaining: body.length, index)
            } catch let error as SerializationError where error.code == .bodyNotReplayable {
                throw MultipartError(
                    code: .partNotReplayable,
                    message: "the part \(part.name.debugDescription) is a stream that can be read only once",
                    partName: part.name,
                    underlying: error
                )
            }
        }
    }

    private func pull(_ reader: any HTTPBodyReader, remaining: Int64?, index: Int) async throws -> Step {
        var reader = reader
        guard let data = try await reader.next() else {
            if let remaining, remaining > 0 { throw mismatch(index, "\(remaining) bytes less") }
            return .head(index + 1)
        }
        let left = remaining.map { $0 - Int64(data.count) }
        if let left, left < 0 { throw mismatch(index, "at least \(-left) bytes more") }
        return .bytes(data, then: .stream(reader, remaining: left, index))
    }

    private func mismatch(_ index: Int, _ difference: String) -> MultipartError {
        let name = form.parts[index].name
        return MultipartError(
            code: .lengthMismatch,
            message: "the stream of the part \(name.debugDescription) gave \(difference) than its length said",
            partName: name
        )
    }
}
