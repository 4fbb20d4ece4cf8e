import BenchMemory
import Foundation
import HTTPTypes
import Linnet

extension Exchange {
    func stream(_ random: inout Random) async throws {
        let response = try await call(path(random.happens(0.3) ? "&chunked=1" : "")).bytes()
        let digest = Digest()
        let pauses = random.happens(0.1)
        for try await piece in response.body {
            digest.add(piece)
            if pauses, random.happens(0.05) { try? await Task.sleep(for: .milliseconds(2)) }
        }
        try expect(digest.count == draw.size, "\(digest.count) bytes came instead of \(draw.size)")
        try expect(digest.finish() == content.digest, "the body of \(draw.size) bytes is another one")
    }

    func head() async throws {
        let response = try await call(path()).response()
        try expect(response.value.isEmpty, "a HEAD has a body of \(response.value.count) bytes")
        let length = response.head.headerFields[.contentLength]
        try expect(length == "\(draw.size)", "the length is \(length ?? "missing") instead of \(draw.size)")
    }

    // MARK: Files

    func download() async throws {
        let file = worker.file("download")
        var options = DownloadOptions()
        options.existingFile = .replace
        do {
            try await call(path()).download(to: file, options: options)
        } catch let error as SessionError {
            error.resumeData?.discard()
            throw error
        }
        try expectContent(of: file)
    }

    /// Interrupts a download, and continues it.
    func resume(_ random: inout Random) async throws {
        let file = worker.file("resumed")
        var options = DownloadOptions()
        options.existingFile = .replace
        let task = try call(path("&wait=2")).downloadTask(to: file, options: options)
        let began = AsyncStream<Void>.makeStream()
        let least = Int64.random(in: 1..<Int64(draw.size), using: &random)
        let observation = task.onProgress { if $0.download.completed >= least { began.continuation.yield() } }
        let ending = task.onCompletion { _ in began.continuation.finish() }
        defer {
            observation.cancel()
            ending.cancel()
        }
        task.resume()
        for await _ in began.stream { break }
        let resumeData = await task.cancelProducingResumeData()
        do {
            if let resumeData {
                try await call(path()).download(to: file, resuming: resumeData, options: options)
            } else {
                _ = try await task.value
            }
        } catch let error as SessionError {
            error.resumeData?.discard()
            resumeData?.discard()
            throw error
        }
        try expectContent(of: file)
    }

    private func expectContent(of file: URL) throws {
        let handle = try FileHandle(forReadingFrom: file)
        defer {
            try? handle.close()
            try? FileManager.default.removeItem(at: file)
        }
        let digest = Digest()
        while let piece = try handle.read(upToCount: Content.piece), !piece.isEmpty { digest.add(piece) }
        try expect(digest.count == draw.size, "the file has \(digest.count) bytes instead of \(draw.size)")
        try expect(digest.finish() == content.digest, "the file of \(draw.size) bytes is another one")
    }

    // MARK: Redirects, cache, cookies

    func redirect(_ random: inout Random) async throws {
        let hops = Int.random(in: 1...3, using: &random)
        let status = random.pick([301, 302, 303, 307, 308])
        let response = try await call("hop/\(hops)?size=\(draw.size)&status=\(status)&to=file").response()
        try expect(response.redirects.count == hops, "\(response.redirects.count) redirects instead of \(hops)")
        try expectContent(response.value)
    }

    /// Gets one of a few representations, which change. The body must be the one of the head's entity tag, and fresh.
    func cached(_ random: inout Random) async throws -> Success {
        let start = Date().timeIntervalSince1970
        let key = Int.random(in: 0..<Version.keys, using: &random)
        let response = try await call("cached/\(key)").response()
        let tag = response.head.headerFields[.eTag].flatMap { Version(entityTag: $0) }
        guard let version = tag, version.key == key else { throw Failure("the entity tag is not of \(key)") }
        try expect(
            Digest.of(response.value) == version.content.digest, "the body is not the one of \(version.entityTag)")
        // Ages are whole seconds.
        let oldest = Int(start - Double(Version.freshness) - 2) / Version.seconds
        try expect(version.version >= oldest, "\(version.entityTag) is stale, the oldest is \(oldest)")
        return response.cacheOutcome == .hit ? .hit : .ok
    }

    /// Gets the cookie that the server receives, and another one. A worker has a cookie of its own on each lane.
    func cookie() async throws {
        let allowed = worker.cookies(on: lane.name)
        let next = "c=\(draw.number)"
        worker.mayHave(next, on: lane.name)
        let response = try await call("cookie/\(worker.index)").response()
        let sent = String(decoding: response.value, as: UTF8.self)
        // A first attempt that was lost may have set the next one.
        try expect(
            allowed.contains(sent) || sent == next && draw.isRetried,
            "the cookie is \(sent) instead of \(allowed.sorted())")
        worker.has(next, on: lane.name)
    }
}
