import Dispatch
import ExampleSupport
import FoundationEssentials
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite(.timeLimit(.minutes(1)))
struct StandardStreamTests {
    @Test func allBytesAreWrittenToAPipeThatDoesNotBlock() async throws {
        var ends: [Int32] = [-1, -1]
        let code = pipe(&ends)
        try #require(code == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        defer { for end in [readEnd, writeEnd] { close(end) } }
        #expect(fcntl(writeEnd, F_SETFL, O_NONBLOCK) == 0)
        // More than a pipe holds.
        let bytes = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 / 3) })
        let received = EventRecorder<Data>()
        // A separate thread, because writing blocks this one.
        DispatchQueue.global().async { received.record(readBytes(readEnd, count: 1 << 20)) }
        try StandardStream(descriptor: writeEnd).write(bytes)
        #expect(try await received.wait(count: 1) == [bytes])
    }

    @Test func aFailureToWriteIsAnError() throws {
        let error = #expect(throws: StandardStream.WriteError.self) {
            try StandardStream(descriptor: -1).write("a")
        }
        #expect(error?.description.hasPrefix("The output could not be written: ") == true)
    }
}

/// Reads until there are so many bytes, or until the end.
private func readBytes(_ descriptor: Int32, count: Int) -> Data {
    var all = Data()
    var piece = [UInt8](repeating: 0, count: 4096)
    while all.count < count {
        let length = read(descriptor, &piece, piece.count)
        guard length > 0 else { break }
        all.append(contentsOf: piece.prefix(length))
    }
    return all
}
