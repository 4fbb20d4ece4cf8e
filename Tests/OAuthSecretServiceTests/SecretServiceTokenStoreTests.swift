import CLibSecret
import FoundationEssentials
import LinnetOAuth
import Testing

@testable import LinnetOAuthSecretService

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite(
    .serialized, .timeLimit(.minutes(3)),
    .enabled(if: SecretServiceFixture.isInstalled, "dbus-daemon or gnome-keyring-daemon is not installed"))
struct SecretServiceTokenStoreTests {
    /// Runs a test in a process with an unlocked keyring.
    private func withKeyring(_ body: (String) async throws -> Void) async throws {
        try await SecretServiceFixture.with { fixture in
            try await fixture.startBus()
            try await fixture.startKeyring(unlocked: true)
            try await body(fixture.folder)
        }
    }

    @Test func aTokenIsStoredReadAndRemoved() async throws {
        try await withKeyring { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try await fixture.readyStore()
                let other = try await fixture.readyStore("ä\"'other")
                #expect(try await store.token() == nil)
                var token = OAuthToken(
                    accessToken: "a0", refreshToken: "r0", expires: .distantFuture, scopes: ["a", "b"])
                try await store.replace(with: token)
                #expect(try await store.token() == token)
                #expect(try await other.token() == nil)
                try await other.replace(with: OAuthToken(accessToken: "b0"))
                token.accessToken = String(repeating: "a", count: 60_000)
                try await store.replace(with: token)
                #expect(try await store.token() == token)
                #expect(try await other.token()?.accessToken == "b0")
                try await store.replace(with: nil)
                try await store.replace(with: nil)
                #expect(try await store.token() == nil)
                #expect(try await other.token()?.accessToken == "b0")
            }
        }
    }

    @Test func aChangeThatFailsLeavesTheToken() async throws {
        try await withKeyring { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try await fixture.readyStore()
                let token = OAuthToken(accessToken: "a0")
                try await store.replace(with: token)
                let error = await oauthError { try await store.update { _ in throw OAuthError(.invalidGrant, "No.") } }
                #expect(error?.code == .invalidGrant)
                #expect(try await store.update { $0 } == token)
            }
        }
    }

    @Test func changesOfTasksAndProcessesAreOneAtATime() async throws {
        try await withKeyring { folder in
            func count(in folder: String) async {
                await #expect(processExitsWith: .success) { [folder = folder as String] in
                    let fixture = SecretServiceFixture(folder: folder)
                    fixture.enter()
                    let store = try await fixture.readyStore()
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<25 {
                            group.addTask {
                                try await store.update { token in
                                    let number = token.flatMap { Int($0.accessToken) } ?? 0
                                    await Task.yield()
                                    return OAuthToken(accessToken: "\(number + 1)")
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
            async let first: Void = count(in: folder)
            async let second: Void = count(in: folder)
            _ = await (first, second)
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let token = try await fixture.readyStore().token()
                #expect(token?.accessToken == "50")
            }
        }
    }

    @Test func anItemThatIsNoTokenIsAnErrorAndIsKept() async throws {
        try await withKeyring { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try await fixture.readyStore()
                let attributes = linnet_secret_attributes("linnet-test", "")
                defer { g_hash_table_unref(attributes) }
                #expect(
                    linnet_secret_store(linnet_secret_token_schema(), attributes, "default", "x", "{\"acc", nil, nil)
                        != 0)
                for _ in 0..<2 {
                    let error = await oauthError {
                        try await store.update { _ in
                            Issue.record("The change ran.")
                            return nil
                        }
                    }
                    #expect(error?.code == .damagedTokenFile && error?.message.contains("linnet-test") == true)
                }
            }
        }
    }

    /// There is no program that could ask the user.
    @Test func aLockedKeyringThatIsNotUnlockedIsAnError() async throws {
        try await SecretServiceFixture.with { fixture in
            try await fixture.startBus()
            try await fixture.startKeyring(unlocked: true)
            await #expect(processExitsWith: .success) { [folder = fixture.folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                try await fixture.readyStore().replace(with: OAuthToken(accessToken: "a0"))
            }
            fixture.end("keyring")
            try await fixture.startKeyring(unlocked: false)
            await #expect(processExitsWith: .success) { [folder = fixture.folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try SecretServiceTokenStore("linnet-test")
                var error: OAuthError?
                repeat {
                    error = await oauthError { try await store.token() }
                } while error?.code == .tokenStoreUnavailable
                #expect(error?.code == .tokenStoreLocked, "\(String(describing: error))")
                let second = await oauthError {
                    try await store.update { _ in
                        Issue.record("The change ran.")
                        return OAuthToken(accessToken: "a1")
                    }
                }
                #expect(second?.code == .tokenStoreLocked, "\(String(describing: second))")
            }
        }
    }

    @Test func aKeyringThatTheUserDoesNotMakeIsAnError() async throws {
        try await SecretServiceFixture.with { fixture in
            try await fixture.startBus()
            // It never existed, so there is no collection.
            try await fixture.startKeyring(unlocked: false)
            await #expect(processExitsWith: .success) { [folder = fixture.folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try await fixture.readyStore()
                #expect(try await store.token() == nil)
                let error = await oauthError { try await store.replace(with: OAuthToken(accessToken: "a0")) }
                #expect(error?.code == .tokenStoreLocked, "\(String(describing: error))")
            }
        }
    }

    @Test(arguments: ["unix:path=/nowhere/bus", "nonsense", "unix:path="])
    func withoutABusThereIsNoStore(address: String) async throws {
        await #expect(processExitsWith: .success) { [address = address as String] in
            setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
            let store = try SecretServiceTokenStore(
                "linnet-test", account: "", timeout: .seconds(60), lockPath: "/tmp/x")
            let error = await oauthError { try await store.token() }
            #expect(error?.code == .tokenStoreUnavailable, "\(String(describing: error))")
        }
    }

    @Test func aBusWithoutAServiceIsNoStore() async throws {
        try await SecretServiceFixture.with { fixture in
            try await fixture.startBus()
            await #expect(processExitsWith: .success) { [folder = fixture.folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try SecretServiceTokenStore("linnet-test")
                for _ in 0..<2 {
                    let error = await oauthError { try await store.token() }
                    #expect(error?.code == .tokenStoreUnavailable, "\(String(describing: error))")
                }
                // The service comes later.
                try await fixture.startKeyring(unlocked: true)
                try await fixture.readyStore().replace(with: OAuthToken(accessToken: "a0"))
                #expect(try await store.token()?.accessToken == "a0")
                fixture.end("keyring")
            }
        }
    }

    @Test func aServiceThatDoesNotAnswerCostsTheTimeout() async throws {
        try await SecretServiceFixture.with { fixture in
            try await fixture.startBus(.silent)
            await #expect(processExitsWith: .success) { [folder = fixture.folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try SecretServiceTokenStore("linnet-test", timeout: .milliseconds(200))
                // The second one waits for the thread, too.
                async let first = oauthError { try await store.token() }
                async let second = oauthError { try await store.update { _ in OAuthToken(accessToken: "a0") } }
                #expect(await first?.code == .timeout)
                #expect(await second?.code == .timeout)
                let patient = try SecretServiceTokenStore("linnet-test", timeout: .seconds(100_000_000_000_000))
                let task = Task { try await patient.token() }
                task.cancel()
                #expect(await oauthError { try await task.value }?.code == .cancelled)
            }
        }
    }

    @Test func aServiceThatStartsAgainIsUsed() async throws {
        try await withKeyring { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try await fixture.readyStore()
                try await store.replace(with: OAuthToken(accessToken: "a0"))
                fixture.end("keyring")
                let error = await oauthError { try await store.token() }
                #expect(error?.code == .tokenStoreUnavailable, "\(String(describing: error))")
                try await fixture.startKeyring(unlocked: true)
                let token = try await fixture.readyStore().token()
                #expect(token?.accessToken == "a0")
                fixture.end("keyring")
            }
        }
    }

    /// GLib would end the process.
    @Test func theEndOfTheBusIsAnError() async throws {
        try await withKeyring { folder in
            await #expect(processExitsWith: .success) { [folder = folder as String] in
                let fixture = SecretServiceFixture(folder: folder)
                fixture.enter()
                let store = try await fixture.readyStore()
                try await store.replace(with: OAuthToken(accessToken: "a0"))
                fixture.end()
                for _ in 0..<3 {
                    let error = await oauthError { try await store.token() }
                    #expect(error?.code == .tokenStoreUnavailable, "\(String(describing: error))")
                }
            }
        }
    }
}

@Suite struct SecretServiceConfigurationTests {
    @Test(arguments: [
        ("", "", 1), ("a\u{0}", "", 1), ("a", "\u{0}", 1), (String(repeating: "a", count: 1025), "", 1), ("a", "", 0),
    ])
    func whatCannotBeStoredIsAnError(service: String, account: String, seconds: Int) async {
        let error = #expect(throws: OAuthError.self) {
            try SecretServiceTokenStore(service, account: account, timeout: .seconds(seconds))
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func theStorePlugsInByALeadingDot() throws {
        func take(_ store: any TokenStore) -> String? { (store as? SecretServiceTokenStore)?.account }
        #expect(try take(.secretService("linnet-test", account: "finch")) == "finch")
    }

    @Test func differentItemsHaveDifferentLocks() {
        let names = [("a", "b"), ("a@b", ""), ("", "a@b"), ("a", ""), (String(repeating: "x", count: 1024), "b")]
        let paths = names.map { SecretItem.lockPath($0.0, $0.1) }
        #expect(Set(paths).count == names.count)
        #expect(paths.allSatisfy { ($0?.split(separator: "/").last?.utf8.count ?? 1000) < 250 })
    }
}
