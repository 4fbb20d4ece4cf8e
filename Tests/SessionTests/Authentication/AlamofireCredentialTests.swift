import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

/// Alamofire 5.12's expectations of its `AuthenticationInterceptor`, for `RenewableCredential`. A comment says where
/// the two differ.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct AlamofireCredentialTests {
    /// A server that answers by the token of a request; by default, it accepts 2.
    private struct Service {
        let issuer: TokenIssuer
        let credential: RenewableCredential<TokenIssuer>
        let stub: StubTransport
        let session: HTTPSession

        init(
            _ issuer: TokenIssuer = TokenIssuer(), token: Int? = 1, limit: Int = 5,
            respond: @escaping @Sendable (Int?) throws -> StubTransport.Response = {
                $0 == 2 ? .json("1") : .status(.unauthorized)
            }
        ) throws {
            let start = ContinuousClock.now
            self.issuer = issuer
            credential = RenewableCredential(
                issuer, token, origins: [try #require(Origin("http://example.com"))], renewalLimit: limit,
                renewalWindow: .seconds(30), now: { start })
            stub = StubTransport { try respond(Service.token(of: $0)) }
            session = try makeClient(stub) { [credential] in $0.authenticator = .renewing(credential) }
        }

        private static func token(of request: StubTransport.Request) -> Int? {
            request.head.headerFields[.authorization].flatMap { Int($0.dropFirst("Bearer ".count)) }
        }

        /// The tokens that were sent, in order.
        var sent: [Int?] { stub.requests.map(Self.token) }

        func error() async -> SessionError? { await Surface.async.send("x", with: session).error }

        /// Sends requests, and opens the issuer when all of them wait for the renewal. Returns their errors.
        func errors(of count: Int) async throws -> [SessionError?] {
            let requests = (0..<count).map { _ in Task { await error() } }
            try await wait { credential.waiterCount == count }
            issuer.open()
            var errors: [SessionError?] = []
            for request in requests { errors.append(await request.value) }
            return errors
        }

        func wait(until condition: () -> Bool) async throws {
            while !condition() { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    private static func isRenewalFailure(_ error: SessionError?) -> Bool {
        error?.code == .credentialRenewalFailed && error?.underlying as? TokenIssuer.Failure == TokenIssuer.Failure()
    }

    /// Alamofire's `AuthenticationError.excessiveRefresh`.
    private static func isExcess(_ error: SessionError?) -> Bool {
        error?.code == .credentialRenewalFailed && error?.underlying == nil
    }

    private static func isUnauthorized(_ error: SessionError?) -> Bool {
        error?.code == .unacceptableStatus && error?.head?.status == .unauthorized
    }

    // MARK: Before a request is sent

    /// testThatInterceptorCanAdaptURLRequest
    @Test func aValidCredentialIsApplied() async throws {
        let service = try Service(token: 2)
        #expect(await service.error() == nil)
        #expect(service.sent == [2] && service.issuer.applications == 1 && service.issuer.count == 0)
    }

    /// testThatInterceptorRethrowsRefreshErrorToAllDeferredAdaptOperations
    @Test func aFailedEarlyRenewalFailsAllThatWait() async throws {
        let service = try Service(TokenIssuer(isOpen: false))
        service.issuer.expire(1)
        service.issuer.fail()
        #expect(try await service.errors(of: 5).allSatisfy { Self.isRenewalFailure($0) })
        #expect(service.issuer.count == 1 && service.issuer.applications == 0 && service.sent.isEmpty)
    }

    /// testThatInterceptorQueuesAdaptOperationWhenRefreshing,
    /// testThatInterceptorQueuesMultipleAdaptOperationsWhenRefreshing
    @Test(arguments: [2, 6])
    func requestsWaitForAnEarlyRenewal(count: Int) async throws {
        let service = try Service(TokenIssuer(isOpen: false))
        service.issuer.expire(1)
        #expect(try await service.errors(of: count).allSatisfy { $0 == nil })
        #expect(service.issuer.count == 1 && service.issuer.applications == count)
        #expect(service.sent == Array(repeating: 2, count: count))
    }

    /// testThatInterceptorThrowsMissingCredentialErrorWhenCredentialIsNil. Different: a request without a credential
    /// renews it; the renewal decides whether nil is an error.
    @Test(arguments: [false, true])
    func aMissingCredentialIsRenewed(fails: Bool) async throws {
        let service = try Service(token: nil) { $0 == 1 ? .json("1") : .status(.unauthorized) }
        if fails { service.issuer.fail() }
        let error = await service.error()
        #expect(fails ? Self.isRenewalFailure(error) : error == nil)
        #expect(service.issuer.count == 1 && service.sent == (fails ? [] : [1]))
    }

    /// testThatInterceptorRethrowsRefreshErrorFromAdapt
    @Test func aFailedEarlyRenewalFailsItsRequest() async throws {
        let service = try Service()
        service.issuer.expire(1)
        service.issuer.fail()
        #expect(Self.isRenewalFailure(await service.error()))
        #expect(service.issuer.count == 1 && service.sent.isEmpty && service.issuer.judgements == 0)
    }

    /// testThatInterceptorThrowsMissingCredentialErrorWhenCredentialIsSetToNilAfterBeingValid. Different, as above.
    @Test func aCredentialThatWasRemovedIsRenewed() async throws {
        let service = try Service(token: 2) { $0 == 1 ? .json("1") : .status(.unauthorized) }
        service.credential.credential = nil
        #expect(await service.error() == nil)
        #expect(service.issuer.count == 1 && service.sent == [1])
    }

    // MARK: After a response

    /// testThatInterceptorDoesNotRetryWithoutResponse
    @Test func aFailureWithoutAResponseIsNoRefusal() async throws {
        let service = try Service { _ in throw TransportError(.connectionClosed, "The server is away.") }
        #expect(await service.error()?.code == .connectionLost)
        #expect(service.sent == [1] && service.issuer.count == 0 && service.issuer.judgements == 0)
    }

    /// testThatInterceptorDoesNotRetryWhenRequestDoesNotFailDueToAuthError
    @Test func anotherStatusIsNoRefusal() async throws {
        let service = try Service { _ in .status(.internalServerError) }
        #expect(await service.error()?.head?.status == .internalServerError)
        #expect(service.sent == [1] && service.issuer.count == 0 && service.issuer.judgements == 1)
    }

    /// testThatInterceptorThrowsMissingCredentialErrorWhenCredentialIsNilAndRequestShouldBeRetried. Different: it is
    /// renewed.
    @Test func aCredentialThatIsRemovedMeanwhileIsRenewed() async throws {
        let holder = Mutex<RenewableCredential<TokenIssuer>?>(nil)
        let service = try Service(token: 5) { token in
            holder.withLock { $0.take() }?.credential = nil
            return token == 1 ? .json("1") : .status(.unauthorized)
        }
        holder.withLock { $0 = service.credential }
        #expect(await service.error() == nil)
        #expect(service.sent == [5, 1] && service.issuer.count == 1)
    }

    /// testThatInterceptorRetriesRequestThatFailedWithOutdatedCredential
    @Test func anOutdatedCredentialNeedsNoRenewal() async throws {
        let holder = Mutex<RenewableCredential<TokenIssuer>?>(nil)
        let service = try Service { token in
            holder.withLock { $0.take() }?.credential = 2
            return token == 2 ? .json("1") : .status(.unauthorized)
        }
        holder.withLock { $0 = service.credential }
        #expect(await service.error() == nil)
        #expect(service.sent == [1, 2] && service.issuer.count == 0 && service.issuer.applications == 2)
    }

    /// testThatInterceptorRetriesRequestAfterRefresh, and the two tests named
    /// testThatInterceptorDoesNotDeadlockWhenAuthenticatorCallsRefreshCompletionSynchronously…: the issuer answers
    /// without suspending.
    @Test(arguments: Surface.allCases, [false, true])
    func aRefusedRequestIsSentAgain(surface: Surface, isEarly: Bool) async throws {
        let service = try Service()
        if isEarly { service.issuer.expire(1) }
        #expect(await surface.send("x", with: service.session).error == nil)
        #expect(service.sent == (isEarly ? [2] : [1, 2]) && service.issuer.count == 1)
        #expect(service.issuer.applications == (isEarly ? 1 : 2))
    }

    /// testThatInterceptorTriggersRetryRefreshAfterProactiveRefreshUsesStaleURL. Different: adapters are above the
    /// credential, so the request that waited has no stale URL. If its new credential is refused, that is its response.
    @Test func aRequestIsAdaptedOnceAndRenewsOnce() async throws {
        struct Path: RequestAdapter {
            let count = Counter()
            func adapt(_ request: SessionRequest) async -> SessionRequest {
                count.add()
                return request
            }
        }
        let (service, adapter) = (try Service { _ in .status(.unauthorized) }, Path())
        service.issuer.expire(1)
        let error = await #expect(throws: SessionError.self) {
            try await service.session.get("x").adapter(adapter).json()
        }
        #expect(Self.isUnauthorized(error) && adapter.count.value == 1)
        #expect(service.sent == [2] && service.issuer.count == 1)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// testThatInterceptorRethrowsRefreshErrorFromRetry
    @Test func aFailedRenewalFailsItsRequest() async throws {
        let service = try Service()
        service.issuer.fail()
        #expect(Self.isRenewalFailure(await service.error()))
        #expect(service.sent == [1] && service.issuer.count == 1 && service.issuer.judgements == 1)
    }

    /// testThatInterceptorRethrowsRefreshErrorToAllPendingRetryRequests
    @Test func aFailedRenewalFailsAllThatWereRefused() async throws {
        let service = try Service(TokenIssuer(isOpen: false))
        service.issuer.fail()
        #expect(try await service.errors(of: 5).allSatisfy { Self.isRenewalFailure($0) })
        #expect(service.issuer.count == 1)
    }

    /// testThatInterceptorAllowsNewRequestsToTriggerRefreshAfterPreviousRefreshFailure. Different: the next request is
    /// not sent with the refused credential first.
    @Test func theNextRequestRenewsAfterAFailure() async throws {
        let service = try Service()
        service.issuer.fail(2)
        for count in 1...2 {
            #expect(Self.isRenewalFailure(await service.error()))
            #expect(service.issuer.count == count && service.sent == [1])
        }
        #expect(await service.error() == nil)
    }

    /// testThatInterceptorTriggersRefreshWithMultipleParallelRequestsReturning401Responses
    @Test func sixRefusedRequestsRenewOnce() async throws {
        let service = try Service(TokenIssuer(isOpen: false))
        #expect(try await service.errors(of: 6).allSatisfy { $0 == nil })
        #expect(service.issuer.count == 1 && service.sent.count { $0 == 2 } == 6)
    }

    // MARK: Too many renewals

    /// testThatInterceptorIgnoresExcessiveRefreshWhenRefreshWindowIsNil. Different: a request renews once, whatever the
    /// window; a limit that is never reached takes the place of nil.
    @Test func aRequestRenewsOnce() async throws {
        let service = try Service(limit: .max) { _ in .status(.unauthorized) }
        for count in 1...6 {
            #expect(Self.isUnauthorized(await service.error()))
            #expect(service.issuer.count == count)
        }
    }

    /// testThatInterceptorThrowsExcessiveRefreshErrorWhenExcessiveRefreshOccurs. Different: the renewals are those of
    /// several requests.
    @Test func theRenewalAfterTheLastAllowedOneIsAnError() async throws {
        let service = try Service(limit: 2) { _ in .status(.unauthorized) }
        for _ in 0..<2 { #expect(Self.isUnauthorized(await service.error())) }
        #expect(Self.isExcess(await service.error()))
        #expect(service.issuer.count == 2)
    }

    /// testThatInterceptorThrowsExcessiveRefreshErrorFromAdaptPath
    @Test func tooManyEarlyRenewalsAreAnError() async throws {
        let service = try Service(limit: 1) { _ in .json("1") }
        for token in 1...2 { service.issuer.expire(token) }
        #expect(await service.error() == nil)
        #expect(Self.isExcess(await service.error()))
        #expect(service.issuer.count == 1 && service.sent == [2])
    }

    /// testThatInterceptorThrowsExcessiveRefreshErrorToAllDeferredAdaptOperationsOnReplay. Different: a credential that
    /// was just renewed is sent, also if its rules call for the next renewal.
    @Test func aNewCredentialIsSentWhateverItsRulesSay() async throws {
        let service = try Service(TokenIssuer(isOpen: false), limit: 1)
        for token in 1...2 { service.issuer.expire(token) }
        #expect(try await service.errors(of: 3).allSatisfy { $0 == nil })
        #expect(service.issuer.count == 1 && service.sent == [2, 2, 2])
    }

    /// testThatExcessiveRefreshTimestampsArePreservedAfterFailedStateIsClearedByAdapt
    @Test func theLimitOutlastsItsErrors() async throws {
        let service = try Service(limit: 1)
        #expect(await service.error() == nil)
        service.credential.credential = 1
        for _ in 0..<3 { #expect(Self.isExcess(await service.error())) }
        #expect(service.issuer.count == 1)
    }

    /// testThatInterceptorThrowsExcessiveRefreshErrorImmediatelyWhenMaximumAttemptsIsZero. Different: the limit is at
    /// least 1.
    @Test func aLimitOfZeroIsOne() async throws {
        let service = try Service(limit: 0)
        #expect(service.credential.renewalLimit == 1)
        #expect(await service.error() == nil)
    }

    /// testThatInterceptorThrowsExcessiveRefreshErrorToAllParallelRequestsAfterExceedingRefreshWindow. Different: the
    /// refusal of the new credential is the response of each of them.
    @Test func requestsThatAreRefusedTwiceFailWithTheRefusal() async throws {
        let service = try Service(TokenIssuer(isOpen: false), limit: 1) { _ in .status(.unauthorized) }
        #expect(try await service.errors(of: 3).allSatisfy { Self.isUnauthorized($0) })
        #expect(service.issuer.count == 1 && service.sent.count { $0 == 2 } == 3)
        #expect(Self.isExcess(await service.error()))
    }

    // MARK: Several renewals

    /// testThatInterceptorHandlesMultipleSuccessiveRefreshCyclesCorrectly
    @Test func oneRenewalFollowsAnother() async throws {
        let accepted = Mutex(2)
        let service = try Service { token in
            accepted.withLock { $0 } == token ? .json("1") : .status(.unauthorized)
        }
        #expect(await service.error() == nil)
        accepted.withLock { $0 = 3 }
        #expect(await service.error() == nil)
        #expect(service.sent == [1, 2, 2, 3] && service.issuer.count == 2)
    }

    /// testThatInterceptorAdaptsNewRequestWithoutDeferringWhileRetryPathRefreshIsInProgress. Different: a new request
    /// waits, since its credential was refused already.
    @Test func aNewRequestWaitsForTheRenewalOfARefusedCredential() async throws {
        let service = try Service(TokenIssuer(isOpen: false))
        let first = Task { await service.error() }
        try await service.wait { service.credential.waiterCount == 1 }
        let second = Task { await service.error() }
        try await service.wait { service.credential.waiterCount == 2 }
        service.issuer.open()
        #expect(await first.value == nil)
        #expect(await second.value == nil)
        #expect(service.sent == [1, 2, 2] && service.issuer.count == 1)
    }

    /// testThatInterceptorAllowsNewRefreshAfterExternalCredentialUpdateFollowingRetryPathFailure
    @Test func aCredentialThatWasSetAfterAFailureIsRenewedToo() async throws {
        let service = try Service()
        service.issuer.fail(2)
        #expect(Self.isRenewalFailure(await service.error()))
        service.credential.credential = 7
        #expect(Self.isRenewalFailure(await service.error()))
        #expect(service.sent == [1, 7] && service.issuer.count == 2)
    }

    /// testThatInterceptorAdaptsDirectlyAfterExternalCredentialUpdateFollowingProactiveRefreshFailure
    @Test func aCredentialThatWasSetAfterAFailureIsApplied() async throws {
        let service = try Service()
        service.issuer.expire(1)
        service.issuer.fail()
        #expect(Self.isRenewalFailure(await service.error()))
        service.credential.credential = 2
        #expect(await service.error() == nil)
        #expect(service.sent == [2] && service.issuer.count == 1)
    }

    /// testThatInterceptorAllowsProactiveRefreshFromFailedStateUnlikeRetryPath
    @Test func eachNewRequestRenewsAStaleCredential() async throws {
        let service = try Service()
        service.issuer.expire(1)
        service.issuer.fail(2)
        for count in 1...2 {
            #expect(Self.isRenewalFailure(await service.error()))
            #expect(service.issuer.count == count && service.issuer.applications == 0)
        }
    }
}
