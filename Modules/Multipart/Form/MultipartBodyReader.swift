import FoundationEssentials
import LinnetSerialization

/// Encodes a form chunk by chunk while it is read.
struct MultipartBodyReader: HTTPRequestBodyReader {
    /// The next step.
    private enum Step {
        /// The delimiter and the header of a part.
        case head(Int)
        /// Bytes in memory, and the step after them.
        indirect case bytes(Data, then: Step)
        case content(Int)
        case file(OpenBodyFile, offset: Int64, Int)
        case stream(any HTTPRequestBodyReader, remaining: Int64?, Int)
        case done
    }

    private let form: MultipartForm
    private let threads: FileThreads
    private let chunkSize: Int
    private var step = Step.head(0)
    private var isFirst = true

    init(form: MultipartForm, threads: FileThreads) {
        self.form = form
        self.threads = threads
        let size = min(max(1, form.chunkSize), 16 << 20)
        chunkSize = min(size, form.throttling?.packetSize ?? size)
    }

    mutating func next() async throws -> Data? {
        if case .done = step { return nil }
        if let throttle = form.throttling, !isFirst { try await throttle.clock.sleep(for: throttle.delay) }
        isFirst = false
        let chunk = ChunkBuffer(capacity: chunkSize)
        while chunk.room > 0, !isHeldBack(chunk), try await advance(chunk) {}
        return chunk.take()
    }

    /// Whether a chunk must be delivered before it is full: its bytes would otherwise wait for the next piece of a
    /// stream, whose source may itself wait until the server has them. Packets of a limited rate are filled.
    private func isHeldBack(_ chunk: ChunkBuffer) -> Bool {
        guard case .stream = step, form.throttling == nil else { return false }
        return chunk.count > 0
    }

    /// Takes one step to fill a chunk; returns false at the end.
    private mutating func advance(_ chunk: ChunkBuffer) async throws -> Bool {
        switch step {
        case .head(let index):
            step = .bytes(head(of: index), then: index < form.parts.count ? .content(index) : .done)
        case .bytes(let data, let then):
            let taken = chunk.append(data)
            step = taken == data.count ? then : .bytes(data.dropFirst(taken), then: then)
        case .content(let index):
            step = try await open(index)
        case .file(let file, let offset, let index):
            step = try await read(file, at: offset, index, into: chunk)
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
            data.append(form.parts[index].headBytes(addsExtendedFileName: form.addsExtendedFileNames))
        } else {
            data.append(contentsOf: "--\r\n".utf8)
        }
        return data
    }

    private func open(_ index: Int) async throws -> Step {
        switch form.parts[index].content {
        case .data(let data):
            return .bytes(data, then: .head(index + 1))
        case .file(let file):
            do throws(SerializationError) {
                let opened = try await threads.run { () throws(SerializationError) in try file.open() }
                return .file(opened, offset: 0, index)
            } catch {
                throw fileError(error, index)
            }
        case .stream(let body):
            do {
                return .stream(try body.makeReader(readingFilesOn: threads), remaining: body.length, index)
            } catch let error as SerializationError where error.code == .bodyNotReplayable {
                throw form.error(
                    .partNotReplayable, at: index, "The stream of \(form.label(of: index)) can be read only once.",
                    underlying: error)
            }
        }
    }

    private func read(
        _ file: OpenBodyFile, at offset: Int64, _ index: Int, into chunk: ChunkBuffer
    ) async throws(MultipartError) -> Step {
        do throws(SerializationError) {
            guard !threads.areOthers else {
                let piece = try await threads.run { () throws(SerializationError) in try file.piece(at: offset) }
                let next = Step.file(file, offset: offset + Int64(piece.count), index)
                return piece.isEmpty ? .head(index + 1) : .bytes(piece, then: next)
            }
            let count = try file.read(into: chunk.unused, at: offset)
            chunk.count += count
            return count == 0 ? .head(index + 1) : .file(file, offset: offset + Int64(count), index)
        } catch {
            throw fileError(error, index)
        }
    }

    private func pull(_ reader: any HTTPRequestBodyReader, remaining: Int64?, index: Int) async throws -> Step {
        var reader = reader
        guard let data = try await reader.next() else {
            if let remaining, remaining > 0 { throw mismatch(index, "\(remaining) bytes fewer") }
            return .head(index + 1)
        }
        let left = remaining.map { $0 - Int64(data.count) }
        if let left, left < 0 { throw mismatch(index, "at least \(-left) bytes more") }
        return .bytes(data, then: .stream(reader, remaining: left, index))
    }

    private func mismatch(_ index: Int, _ difference: String) -> MultipartError {
        form.error(
            .lengthMismatch, at: index, "The stream of \(form.label(of: index)) gave \(difference) than its length."
        )
    }

    private func fileError(_ error: SerializationError, _ index: Int) -> MultipartError {
        form.error(
            error.code == .bodyFileChanged ? .fileChanged : .unreadableFile, at: index,
            "The file of \(form.label(of: index)) failed: \(error.message)", underlying: error.underlying ?? error)
    }
}

/// Memory for one chunk, which becomes a `Data` without copying or clearing.
final class ChunkBuffer {
    private let memory: UnsafeMutableRawPointer
    private let capacity: Int
    private var isTaken = false
    var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        if !isTaken { memory.deallocate() }
    }

    var room: Int { isTaken ? 0 : capacity - count }

    var unused: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory + count, count: room)
    }

    /// Copies as much as fits; returns the number of bytes.
    func append(_ data: Data) -> Int {
        let taken = data.copyBytes(to: unused, count: min(room, data.count))
        count += taken
        return taken
    }

    /// The bytes; nil if there are none. The buffer is full afterwards.
    func take() -> Data? {
        guard count > 0, !isTaken else { return nil }
        isTaken = true
        return Data(bytesNoCopy: memory, count: count, deallocator: .custom { memory, _ in memory.deallocate() })
    }
}
