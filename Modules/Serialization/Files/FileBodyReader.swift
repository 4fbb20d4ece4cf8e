import FoundationEssentials

/// Gives a file's bytes in chunks, for those who read a body themselves and for the parts of other bodies; a session has a
/// faster way for a body that is one file.
struct FileBodyReader: HTTPBodyReader {
    private let file: BodyFile
    private let threads: FileThreads
    private var opened: OpenBodyFile?
    private var offset: Int64 = 0

    /// Opens the file at once, unless that is to be done on other threads.
    init(_ file: BodyFile, on threads: FileThreads) throws(SerializationError) {
        self.file = file
        self.threads = threads
        opened = threads.areOthers ? nil : try file.open()
    }

    mutating func next() async throws -> Data? {
        let (position, known) = (offset, opened)
        let (reader, chunk) = try await threads.run { [file] () throws(SerializationError) in
            let reader = if let known { known } else { try file.open() }
            return (reader, try reader.piece(at: position))
        }
        opened = reader
        offset += Int64(chunk.count)
        return chunk.isEmpty ? nil : chunk
    }
}
