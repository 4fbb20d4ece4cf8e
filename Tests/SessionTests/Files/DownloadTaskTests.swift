import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DownloadTaskTests {
    private func session(_ name: String? = nil, _ text: String = "x", status: Int = 200) throws -> HTTPSession {
        try HTTPSession(
            transport: StubTransport { _ in
                var fields = HTTPFields()
                fields[.contentDisposition] = name
                return .status(.init(code: status), headerFields: fields, body: Data(text.utf8))
            })
    }

    @Test func aHandleSavesToItsFile() async throws {
        try await withScratchFolder { folder in
            let task = try session(nil, "abc").call(makeRequest()).downloadTask(to: folder["file"])
            #expect(task.kind == .download)
            let progress = EventRecorder<TransferProgress>()
            task.onProgress { progress.record($0.download) }
            #expect(folder.names.isEmpty)
            task.resume()
            #expect(try await task.value.value.path == folder["file"].path)
            #expect(try folder.text(of: "file") == "abc")
            #expect(folder.names == ["file"])
            let all = try await progress.wait { $0.last?.isFinished == true }
            #expect(all.last == TransferProgress(completed: 3, total: 3))
            #expect(task.resumption == nil)
        }
    }

    @Test func aFolderTakesTheNameThatTheServerSuggests() async throws {
        try await withScratchFolder { folder in
            let task = try session(#"attachment; filename="../../etc/passwd""#)
                .call(makeRequest("path/name.txt")).downloadTask(into: folder.url)
            task.resume()
            #expect(try await task.value.value.path == folder["passwd"].path)
            let second = try session().call(makeRequest("path/name.txt")).downloadTask(into: folder.url)
            second.resume()
            #expect(try await second.value.value.path == folder["name.txt"].path)
            #expect(folder.names == ["name.txt", "passwd"])
        }
    }

    @Test func theRulesForExistingFilesHoldInFolders() async throws {
        try await withScratchFolder { folder in
            try folder.write("old", to: "x")
            var options = DownloadOptions { $0.existingFile = .keepBoth }
            let both = try session().call(makeRequest("x")).downloadTask(into: folder.url, options: options)
            both.resume()
            #expect(try await both.value.value.lastPathComponent == "x (1)")
            options.existingFile = .fail
            let failing = try session().call(makeRequest("x")).downloadTask(into: folder.url, options: options)
            failing.resume()
            #expect(await failure(of: failing)?.code == .fileFailed)
            #expect(try folder.text(of: "x") == "old")
            #expect(folder.names == ["x", "x (1)"])
        }
    }

    @Test func aServerCannotChooseAFileToReplace() async throws {
        try await withScratchFolder { folder in
            try folder.write("old", to: "x")
            let kept = try session(nil, "new").call(makeRequest("x")).downloadTask(into: folder.url)
            kept.resume()
            #expect(try await kept.value.value.lastPathComponent == "x (1)")
            #expect(try folder.text(of: "x") == "old")
            let options = DownloadOptions { $0.existingFile = .replace }
            let replacing = try session(nil, "new").call(makeRequest("x")).downloadTask(
                into: folder.url, options: options)
            replacing.resume()
            #expect(try await replacing.value.value.lastPathComponent == "x")
            #expect(try folder.text(of: "x") == "new")
        }
    }

    @Test func missingFoldersAreCreatedOnRequest() async throws {
        try await withScratchFolder { folder in
            let options = DownloadOptions { $0.createsDirectories = true }
            let task = try session().call(makeRequest("x")).downloadTask(into: folder["a/b"], options: options)
            task.resume()
            #expect(try await task.value.value.path == folder["a/b/x"].path)
            let without = try session().call(makeRequest("x")).downloadTask(into: folder["c"])
            without.resume()
            #expect(await failure(of: without)?.fileFailure?.path == folder["c"].path)
        }
    }

    @Test func thePlaceCanBeChosenAtTheEnd() async throws {
        try await withScratchFolder { folder in
            let seen = EventRecorder<String>()
            let task = try session(nil, "abc").call(makeRequest()).downloadTask { file, head in
                seen.record(String(decoding: try Data(contentsOf: file), as: UTF8.self) + " \(head.status.code)")
                return folder["chosen"]
            }
            task.resume()
            #expect(try await task.value.value.path == folder["chosen"].path)
            #expect(seen.events == ["abc 200"])
            #expect(try folder.text(of: "chosen") == "abc")
        }
    }

    /// Everybody may look into the system's folder for temporary files.
    @Test(arguments: [nil, 0o640] as [UInt16?])
    func onlyTheOwnerReadsATemporaryFile(permissions: UInt16?) async throws {
        try await withScratchFolder { folder in
            let seen = EventRecorder<Int?>()
            let options = DownloadOptions { $0.permissions = permissions }
            let task = try session(nil, "abc").call(makeRequest()).downloadTask(options: options) { file, _ in
                seen.record(Self.permissions(of: file))
                return folder["chosen"]
            }
            task.resume()
            _ = try await task.value
            #expect(seen.events == [0o600])
            try folder.write("", to: "other")
            let usual = Self.permissions(of: folder["other"])
            #expect(Self.permissions(of: folder["chosen"]) == permissions.map { Int($0) } ?? usual)
            #expect(folder.names == ["chosen", "other"])
        }
    }

    private static func permissions(of file: URL) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: file.path))?[.posixPermissions] as? Int
    }

    @Test func nothingIsLeftWhenNoPlaceIsChosen() async throws {
        struct Refusal: Error {}
        let seen = EventRecorder<URL>()
        let task = try session().call(makeRequest()).downloadTask { file, _ in
            seen.record(file)
            throw Refusal()
        }
        task.resume()
        let error = await failure(of: task)
        #expect(error?.code == .fileFailed)
        #expect(error?.underlying is Refusal)
        let file = try #require(seen.events.first)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func noPlaceIsChosenForARefusedResponse() async throws {
        let seen = EventRecorder<URL>()
        let task = try session(status: 404).call(makeRequest()).downloadTask { file, _ in
            seen.record(file)
            return file
        }
        task.resume()
        #expect(await failure(of: task)?.code == .unacceptableStatus)
        #expect(seen.events.isEmpty)
    }

    /// The system's folder for temporary files is on another file system, if there is one.
    @Test func aFileMovesAcrossFileSystems() async throws {
        let other = URL(filePath: "/dev/shm/linnet-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
        } catch {
            return
        }
        defer { try? FileManager.default.removeItem(at: other) }
        for existing in [DownloadOptions.ExistingFile.replace, .fail, .keepBoth] {
            let options = DownloadOptions { $0.existingFile = existing }
            let task = try session(nil, "abc").call(makeRequest()).downloadTask(options: options) { _, _ in
                other.appending(path: "file")
            }
            task.resume()
            let place = try await task.value.value
            #expect(try Data(contentsOf: place) == Data("abc".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["file"])
            try FileManager.default.removeItem(at: place)
        }
    }

    @Test func anInvalidPlaceFailsTheTask() async throws {
        let task = try session().call(makeRequest()).downloadTask(to: #require(URL(string: "https://example.com/file")))
        task.resume()
        #expect(await failure(of: task)?.code == .invalidURL)
    }

    @Test func cancellingLeavesNothing() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        try await withScratchFolder { folder in
            let task = try session.call(makeRequest()).downloadTask(to: folder["file"])
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.download.completed) }
            task.resume()
            body.send("abc")
            try await progress.wait { $0.last == 3 }
            #expect(folder.names.count == 1)
            task.cancel()
            let error = await failure(of: task)
            #expect(error?.code == .cancelled)
            #expect(error?.resumeData == nil)
            #expect(folder.names.isEmpty)
        }
    }
}
