import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

@Suite("Trust anchors", .timeLimit(.minutes(1)))
struct TrustAnchorsTests {
    @Test func emptyCertificateListIsAnError() {
        let error = #expect(throws: SecurityError.self) { try TrustAnchors.certificates([]) }
        #expect(error?.code == .noAnchors)
    }

    @Test func repeatedCertificateIsOneAnchor() async throws {
        let pki = try TestPKI()
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root, pki.root]))
        #expect(await evaluator.refusal(of: try pki.identity().chain) == nil)
    }

    @Test func anchorsAreReadFromAFile() async throws {
        let (pki, other) = (try TestPKI(), try TestPKI())
        try await Scratch.with { scratch in
            let evaluator = StandardTrustEvaluator.systemTrust(
                anchors: try .file(scratch.write("roots.pem", other.rootPEM + pki.rootPEM)))
            #expect(await evaluator.refusal(of: try pki.identity().chain) == nil)
            #expect(await evaluator.refusal(of: try other.identity().chain) == nil)
            #expect(await evaluator.refusal(of: try TestPKI().identity().chain)?.reason == .unknownAuthority)
        }
    }

    @Test func unreadableFileIsAnError() async throws {
        try await Scratch.with { scratch in
            let missing = #expect(throws: SecurityError.self) { try TrustAnchors.file(scratch.file("missing.pem")) }
            #expect(missing?.code == .cannotReadFile)
            let text = try scratch.write("text.pem", "no certificate")
            let none = #expect(throws: SecurityError.self) { try TrustAnchors.file(text) }
            #expect(none?.code == .invalidCertificate)
        }
    }

    @Test func chainEndsAtAnIntermediateOnlyIfItIsNamed() throws {
        #expect(!TrustAnchors.system.allowsPartialChains)
        #expect(try TrustAnchors.certificates([TestPKI().root]).allowsPartialChains)
    }

    @Test func evaluatorsWithTheSameAnchorsShareOneStore() throws {
        let anchors = try TrustAnchors.certificates([TestPKI().root])
        #expect(try anchors.store() === anchors.store())
    }
}

@Suite("The system's anchors", .timeLimit(.minutes(1)))
struct SystemTrustLocationTests {
    @Test func variableReplacesTheDefault() throws {
        let both = try SystemTrustLocation(file: "/a.pem", directory: "/b:/c").resolve()
        #expect(both.files == ["/a.pem"] && both.directories == ["/b", "/c"])
        let file = try SystemTrustLocation(file: "/a.pem").resolve()
        #expect(file.files == ["/a.pem"] && file.directories.isEmpty)
        let directories = try SystemTrustLocation(directory: "/b::/c:").resolve()
        #expect(directories.files.isEmpty && directories.directories == ["/b", "/c"])
    }

    @Test func emptyVariablesAreIgnored() throws {
        let none = try? SystemTrustLocation().resolve()
        let empty = try? SystemTrustLocation(file: "", directory: "").resolve()
        #expect(none?.files == empty?.files)
        #expect(none?.directories == empty?.directories)
    }

    @Test func locationIsLoadedOnce() async throws {
        let pki = try TestPKI()
        try await Scratch.with { scratch in
            let stores = SystemTrustStores()
            let location = SystemTrustLocation(file: try scratch.write("roots.pem", pki.rootPEM))
            let other = SystemTrustLocation(file: try scratch.write("other.pem", pki.rootPEM))
            let store = try stores.store(for: location)
            #expect(try stores.store(for: location) === store)
            #expect(try stores.store(for: other) !== store)
            let all = await withTaskGroup(of: TrustStore?.self) { group in
                for _ in 0..<50 { group.addTask { try? stores.store(for: location) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(all.allSatisfy { $0 === store })
        }
    }

    @Test func failedLocationIsTriedAgain() async throws {
        let pki = try TestPKI()
        try await Scratch.with { scratch in
            let stores = SystemTrustStores()
            let location = SystemTrustLocation(file: scratch.file("roots.pem"))
            for _ in 0..<2 {
                let error = #expect(throws: SecurityError.self) { try stores.store(for: location) }
                #expect(error?.code == .cannotReadFile)
                #expect(error?.message.contains(scratch.file("roots.pem")) == true)
            }
            _ = try scratch.write("roots.pem", pki.rootPEM)
            _ = try stores.store(for: location)
        }
    }

    @Test func missingDirectoriesAreErrors() async throws {
        try await Scratch.with { scratch in
            let missing = SystemTrustLocation(directory: scratch.file("missing"))
            let error = #expect(throws: SecurityError.self) { try SystemTrustStores().store(for: missing) }
            #expect(error?.code == .cannotReadFile)
            let file = SystemTrustLocation(directory: try scratch.write("file", "no folder"))
            #expect(throws: SecurityError.self) { try SystemTrustStores().store(for: file) }
            // One of several directories is enough, as for OpenSSL.
            let one = SystemTrustLocation(directory: scratch.file("missing") + ":" + scratch.path)
            #expect(throws: Never.self) { try SystemTrustStores().store(for: one) }
        }
    }

    @Test func filesWithoutAnchorsAreErrors() async throws {
        try await Scratch.with { scratch in
            let text = SystemTrustLocation(file: try scratch.write("text.pem", "no certificate"))
            #expect(throws: SecurityError.self) { try SystemTrustStores().store(for: text) }
        }
    }

    @Test func directoryIsSearchedByHash() async throws {
        let pki = try TestPKI()
        try await Scratch.with { scratch in
            _ = try scratch.write("root.pem", pki.rootPEM)
            #expect(try Command.run("openssl", "rehash", scratch.path).status == 0)
            let location = SystemTrustLocation(directory: scratch.path)
            let evaluator = StandardTrustEvaluator.systemTrust(anchors: TrustAnchors(source: .system(location)))
            #expect(await evaluator.refusal(of: try pki.identity().chain) == nil)
            #expect(await evaluator.refusal(of: try TestPKI().identity().chain)?.reason == .unknownAuthority)
        }
    }

    /// A bundle can mark an authority as not trusted for servers (`TRUSTED CERTIFICATE`).
    @Test(arguments: [("-addreject", false), ("-addtrust", true)])
    func purposesInABundleAreRespected(option: String, isAccepted: Bool) async throws {
        let pki = try TestPKI()
        try await Scratch.with { scratch in
            let root = try scratch.write("root.pem", pki.rootPEM)
            let bundle = scratch.file("bundle.pem")
            let made = try Command.run(
                "openssl", "x509", "-in", root, option, "serverAuth", "-trustout", "-out", bundle)
            #expect(made.status == 0)
            let location = SystemTrustLocation(file: bundle)
            let evaluator = StandardTrustEvaluator.systemTrust(anchors: TrustAnchors(source: .system(location)))
            let refusal = await evaluator.refusal(of: try pki.identity().chain)
            #expect((refusal == nil) == isAccepted)
            if !isAccepted { #expect(refusal?.reason == .invalidPurpose) }
        }
    }
}

/// Runs a process with these variables; the variables of this process stay unchanged.
@Suite("The system's anchors by the environment", .timeLimit(.minutes(1)))
struct SystemTrustEnvironmentTests {
    @Test func variablesOfTheProcessAreUsed() {
        let environment = ProcessInfo.processInfo.environment
        #expect(SystemTrustLocation.current.file == environment["SSL_CERT_FILE"])
        #expect(SystemTrustLocation.current.directory == environment["SSL_CERT_DIR"])
    }

    @Test func unavailableAnchorsRefuseEveryChain() async throws {
        let chain = try TestPKI().identity().chain
        for location in [SystemTrustLocation(file: "/nowhere/roots.pem"), .init(directory: "/nowhere")] {
            let anchors = TrustAnchors(source: .system(location))
            let pin = chain[0].publicKeyPin
            let evaluators: [any TrustEvaluator] = [
                StandardTrustEvaluator.systemTrust(anchors: anchors),
                try StandardTrustEvaluator.pins([pin], anchors: anchors),
                try StandardTrustEvaluator.certificatePins(chain, anchors: anchors),
            ]
            for evaluator in evaluators {
                let refusal = await evaluator.refusal(of: chain)
                #expect(refusal?.reason == .anchorsUnavailable)
                #expect(refusal?.message.contains("/nowhere") == true)
            }
        }
    }
}
