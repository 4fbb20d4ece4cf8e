import Foundation
import LinnetAFNetworking

extension Header {
    static var securityPolicy: Header {
        var header = Header("AFSecurityPolicy")
        header.same("AFSSLPinningMode") { _ = AFSSLPinningMode.self }
        header.same("AFSSLPinningModeNone") { _ = AFSSLPinningMode.none }
        header.same("AFSSLPinningModePublicKey") { _ = AFSSLPinningMode.publicKey }
        header.same("AFSSLPinningModeCertificate") { _ = AFSSLPinningMode.certificate }
        header.same("AFSecurityPolicy") {
            _ = AFSecurityPolicy.self as any (NSObject & NSSecureCoding & NSCopying).Type
        }
        header.same("SSLPinningMode") { (policy: AFSecurityPolicy) in _ = policy.sslPinningMode as AFSSLPinningMode }
        header.same("pinnedCertificates") { (policy: AFSecurityPolicy) in policy.pinnedCertificates = Set<Data>() }
        header.same("allowInvalidCertificates") { (policy: AFSecurityPolicy) in policy.allowInvalidCertificates = false
        }
        header.same("validatesDomainName") { (policy: AFSecurityPolicy) in policy.validatesDomainName = true }
        header.same("certificatesInBundle:") { _ = AFSecurityPolicy.certificates(in: .main) as Set<Data> }
        header.same("defaultPolicy") { _ = AFSecurityPolicy.default() }
        header.same("policyWithPinningMode:") { _ = AFSecurityPolicy(pinningMode: .none) }
        header.same("policyWithPinningMode:withPinnedCertificates:") {
            _ = AFSecurityPolicy(pinningMode: .publicKey, withPinnedCertificates: [])
        }
        header.differs("evaluateServerTrust:forDomain:") { (policy: (AFSecurityPolicy, ServerTrust)) in
            _ = await policy.0.evaluate(policy.1)
        }
        return header
    }

    static var reachability: Header {
        var header = Header("AFNetworkReachabilityManager")
        header.same("AFNetworkReachabilityStatus") { _ = AFNetworkReachabilityStatus.self }
        header.same("AFNetworkReachabilityStatusUnknown") { _ = AFNetworkReachabilityStatus.unknown }
        header.same("AFNetworkReachabilityStatusNotReachable") { _ = AFNetworkReachabilityStatus.notReachable }
        header.same("AFNetworkReachabilityStatusReachableViaWWAN") { _ = AFNetworkReachabilityStatus.reachableViaWWAN }
        header.same("AFNetworkReachabilityStatusReachableViaWiFi") { _ = AFNetworkReachabilityStatus.reachableViaWiFi }
        header.same("AFNetworkReachabilityManager") { _ = AFNetworkReachabilityManager.self as NSObject.Type }
        header.same("networkReachabilityStatus") { (manager: AFNetworkReachabilityManager) in
            _ = manager.networkReachabilityStatus
        }
        header.same("reachable") { (manager: AFNetworkReachabilityManager) in _ = manager.isReachable }
        header.same("reachableViaWWAN") { (manager: AFNetworkReachabilityManager) in _ = manager.isReachableViaWWAN }
        header.same("reachableViaWiFi") { (manager: AFNetworkReachabilityManager) in _ = manager.isReachableViaWiFi }
        header.same("sharedManager") { _ = AFNetworkReachabilityManager.shared() }
        header.same("manager") { _ = AFNetworkReachabilityManager() }
        header.same("managerForDomain:") { _ = AFNetworkReachabilityManager(forDomain: "example.com") }
        header.differs("managerForAddress:") { _ = AFNetworkReachabilityManager(forAddress: "192.0.2.1") }
        header.differs("initWithReachability:") {
            _ = AFNetworkReachabilityManager(reachability: try ReachabilityMonitor())
        }
        header.same("startMonitoring") { (manager: AFNetworkReachabilityManager) in manager.startMonitoring() }
        header.same("stopMonitoring") { (manager: AFNetworkReachabilityManager) in manager.stopMonitoring() }
        header.same("localizedNetworkReachabilityStatusString") { (manager: AFNetworkReachabilityManager) in
            _ = manager.localizedNetworkReachabilityStatusString() as String
        }
        header.same("setReachabilityStatusChangeBlock:") { (manager: AFNetworkReachabilityManager) in
            manager.setReachabilityStatusChange { (_: AFNetworkReachabilityStatus) in }
        }
        header.same("AFNetworkingReachabilityDidChangeNotification") {
            _ = NSNotification.Name.AFNetworkingReachabilityDidChange
        }
        header.same("AFNetworkingReachabilityNotificationStatusItem") {
            _ = AFNetworkingReachabilityNotificationStatusItem as String
        }
        header.same("AFStringFromNetworkReachabilityStatus") {
            _ = AFStringFromNetworkReachabilityStatus(.unknown) as String
        }
        return header
    }

    static var imageDownloader: Header {
        var header = Header("AFImageDownloader")
        header.same("AFImageDownloadPrioritization") { _ = AFImageDownloadPrioritization.self }
        header.same("AFImageDownloadPrioritizationFIFO") { _ = AFImageDownloadPrioritization.fifo }
        header.same("AFImageDownloadPrioritizationLIFO") { _ = AFImageDownloadPrioritization.lifo }
        header.same("AFImageDownloadReceipt") { _ = AFImageDownloadReceipt.self as NSObject.Type }
        header.same("task") { (receipt: AFImageDownloadReceipt) in _ = receipt.task as URLSessionDataTask }
        header.same("receiptID") { (receipt: AFImageDownloadReceipt) in _ = receipt.receiptID as UUID }
        header.same("AFImageDownloader") { _ = AFImageDownloader.self as NSObject.Type }
        header.same("imageCache") { (downloader: AFImageDownloader) in
            downloader.imageCache = downloader.imageCache as (any AFImageRequestCache)?
        }
        header.same("sessionManager") { (downloader: AFImageDownloader) in
            downloader.sessionManager = downloader.sessionManager as AFHTTPSessionManager
        }
        header.same("downloadPrioritization") { (downloader: AFImageDownloader) in
            downloader.downloadPrioritization = .lifo
        }
        header.same("defaultInstance") { _ = AFImageDownloader.defaultInstance() }
        header.leftOut("defaultURLCache")
        header.same("defaultURLSessionConfiguration") {
            _ = AFImageDownloader.defaultURLSessionConfiguration() as URLSessionConfiguration
        }
        header.same("init") { _ = AFImageDownloader() }
        header.same("initWithSessionConfiguration:") { _ = AFImageDownloader(sessionConfiguration: .default) }
        header.same("initWithSessionManager:downloadPrioritization:maximumActiveDownloads:imageCache:") {
            _ = AFImageDownloader(
                sessionManager: AFHTTPSessionManager(), downloadPrioritization: .fifo, maximumActiveDownloads: 4,
                imageCache: AFAutoPurgingImageCache())
        }
        header.addDownloads()
        return header
    }

    private mutating func addDownloads() {
        let request = { URLRequest(url: URL(filePath: "/")) }
        let success = { @Sendable (_: URLRequest, _: HTTPURLResponse?, _: UIImage) in }
        let failure = { @Sendable (_: URLRequest, _: HTTPURLResponse?, _: any Error) in }
        same("downloadImageForURLRequest:success:failure:") { (downloader: AFImageDownloader) in
            _ =
                downloader.downloadImage(
                    for: request(), success: { success($0, $1, $2) }, failure: { failure($0, $1, $2) })
                as AFImageDownloadReceipt?
        }
        same("downloadImageForURLRequest:withReceiptID:success:failure:") { (downloader: AFImageDownloader) in
            _ = downloader.downloadImage(
                for: request(), withReceiptID: UUID(), success: { success($0, $1, $2) },
                failure: { failure($0, $1, $2) })
        }
        same("cancelTaskForImageDownloadReceipt:") { (pair: (AFImageDownloader, AFImageDownloadReceipt)) in
            pair.0.cancelTask(for: pair.1)
        }
    }

    static var imageCache: Header {
        var header = Header("AFAutoPurgingImageCache")
        let image = { UIImage(data: Data(), decoded: nil) }
        let request = { URLRequest(url: URL(filePath: "/")) }
        header.same("AFImageCache") { _ = (any AFImageCache).self }
        header.same("addImage:withIdentifier:") { (cache: any AFImageCache) in cache.add(image(), withIdentifier: "a") }
        header.same("removeImageWithIdentifier:") { (cache: any AFImageCache) in
            _ = cache.removeImage(withIdentifier: "a") as Bool
        }
        header.same("removeAllImages") { (cache: any AFImageCache) in _ = cache.removeAllImages() as Bool }
        header.same("imageWithIdentifier:") { (cache: any AFImageCache) in
            _ = cache.image(withIdentifier: "a") as UIImage?
        }
        header.same("AFImageRequestCache") { (cache: any AFImageRequestCache) in _ = cache as any AFImageCache }
        header.same("shouldCacheImage:forRequest:withAdditionalIdentifier:") { (cache: any AFImageRequestCache) in
            _ = cache.shouldCache(image(), for: request(), withAdditionalIdentifier: nil) as Bool
        }
        header.same("addImage:forRequest:withAdditionalIdentifier:") { (cache: any AFImageRequestCache) in
            cache.add(image(), for: request(), withAdditionalIdentifier: nil)
        }
        header.same("removeImageforRequest:withAdditionalIdentifier:") { (cache: any AFImageRequestCache) in
            _ = cache.removeImagefor(request(), withAdditionalIdentifier: nil) as Bool
        }
        header.same("imageforRequest:withAdditionalIdentifier:") { (cache: any AFImageRequestCache) in
            _ = cache.imagefor(request(), withAdditionalIdentifier: nil) as UIImage?
        }
        header.same("AFAutoPurgingImageCache") { (cache: AFAutoPurgingImageCache) in
            _ = cache as any NSObject & AFImageRequestCache
        }
        header.differs("memoryCapacity") { (cache: AFAutoPurgingImageCache) in _ = cache.memoryCapacity as UInt64 }
        header.differs("preferredMemoryUsageAfterPurge") { (cache: AFAutoPurgingImageCache) in
            _ = cache.preferredMemoryUsageAfterPurge as UInt64
        }
        header.same("memoryUsage") { (cache: AFAutoPurgingImageCache) in _ = cache.memoryUsage as UInt64 }
        header.same("init") { _ = AFAutoPurgingImageCache() }
        header.same("initWithMemoryCapacity:preferredMemoryCapacity:") {
            _ = AFAutoPurgingImageCache(memoryCapacity: 100, preferredMemoryCapacity: 60)
        }
        return header
    }

    @MainActor static var activityIndicator: Header {
        var header = Header("AFNetworkActivityIndicatorManager")
        header.same("AFNetworkActivityIndicatorManager") { _ = AFNetworkActivityIndicatorManager.self as NSObject.Type }
        let manager = { AFNetworkActivityIndicatorManager.shared() }
        header.same("enabled") { manager().isEnabled = true }
        header.same("networkActivityIndicatorVisible") { _ = manager().isNetworkActivityIndicatorVisible as Bool }
        header.same("activationDelay") { manager().activationDelay = 1 }
        header.same("completionDelay") { manager().completionDelay = 1 }
        header.same("sharedManager") { _ = AFNetworkActivityIndicatorManager.shared() }
        header.same("incrementActivityCount") { manager().incrementActivityCount() }
        header.same("decrementActivityCount") { manager().decrementActivityCount() }
        header.same("setNetworkingActivityActionWithBlock:") {
            manager().setNetworkingActivityActionWith { (_: Bool) in }
        }
        return header
    }
}
